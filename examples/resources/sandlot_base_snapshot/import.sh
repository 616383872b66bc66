# The id is the lane: the backend, the application and the template.
terraform import sandlot_base_snapshot.shop docker/shop/default
