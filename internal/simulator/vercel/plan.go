package vercel

import "time"

// Plan is a price plan; it sets limits.
type Plan string

// The plans of the service.
const (
	PlanHobby      Plan = "hobby"
	PlanPro        Plan = "pro"
	PlanEnterprise Plan = "enterprise"
)

type limits struct {
	session    time.Duration // longest total time-out of a session
	concurrent int           // running sessions
	vcpus      int           // of one sandbox
}

var plans = map[Plan]limits{
	PlanHobby:      {session: 45 * time.Minute, concurrent: 10, vcpus: 4},
	PlanPro:        {session: 24 * time.Hour, concurrent: 10_000, vcpus: 8},
	PlanEnterprise: {session: 24 * time.Hour, concurrent: 10_000, vcpus: 32},
}

// Limits that are the same for every plan.
const (
	maxName         = 128
	maxPorts        = 15
	minPort         = 1024
	maxPort         = 65535
	maxTags         = 5
	maxTagValue     = 256
	maxImage        = 255
	maxEnvBytes     = 4096
	maxRetention    = 10
	minTimeout      = 1000 // ms
	defaultTimeout  = 300_000
	defaultVCPUs    = 2
	memoryPerVCPU   = 2048 // MB
	day             = 24 * 60 * 60 * 1000
	maxExpiry       = 3650 * day
	defaultExpiry   = 30 * day
	newestExpiry    = 7 * day // of the newest generation
	unresumableLife = 14 * day
	maxPage         = 100
	defaultPage     = 20
	maxBody         = 256 << 20
)

var regions = []string{
	"iad1", "sfo1", "cle1", "cdg1", "fra1", "arn1", "sin1", "pdx1", "lhr1", "icn1",
	"bom1", "cpt1", "dub1", "gru1", "hkg1", "syd1", "yul1", "hnd1", "kix1",
}

var runtimes = []string{"node22", "node24", "node26", "python3.13"}

const (
	defaultRegion  = "iad1"
	defaultRuntime = "node24"
	defaultImage   = "vercel/sandbox/universal:latest"
)
