package postgres

// Check judges the form of a URL without contacting anything or reading a file. Its errors never quote
// a part of the URL.
func Check(address string) error {
	_, err := checkForm(address)
	return err
}
