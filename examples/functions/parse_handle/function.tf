locals {
  # What an application has filed under a workspace.
  record = jsonencode({
    workspaceId = "ticket-4711"
    sandboxId   = "sbx_1a2b3c"
    createdAt   = "2026-04-30T08:00:00.000Z"
    lastUsedAt  = "2026-04-30T09:30:00.000Z"
  })
}

# vercel-session, since the record has no kind
output "shape" {
  value = provider::sandlot::parse_handle(local.record).shape
}

# sbx_1a2b3c
output "session" {
  value = provider::sandlot::parse_handle(local.record).session_id
}
