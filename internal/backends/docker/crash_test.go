package docker

// crashVariable makes the test binary run one step of a crash test instead of the tests.
const crashVariable = "SANDLOT_TEST_DOCKER_CRASH"

func runCrashStep() {}
