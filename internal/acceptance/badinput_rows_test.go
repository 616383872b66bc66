package acceptance_test

import (
	"fmt"
	"strings"
)

func badSession(backend, body string) string {
	return fmt.Sprintf("resource \"sandlot_sandbox\" \"a\" {\n  backend = %q\n  name = \"a\"\n  %s\n}\n", backend, body)
}

func badImage(body string) string {
	return badSession("docker", "source = { image = \"debian\" }\n  "+body)
}

func badPersistent(body string) string {
	return "resource \"sandlot_persistent_sandbox\" \"a\" {\n  backend = \"local\"\n  " + body + "\n}\n"
}

func badFile(body string) string {
	return "resource \"sandlot_file\" \"a\" {\n  sandbox_id = \"local/a\"\n  " + body + "\n}\n"
}

func badCommand(body string) string {
	return "resource \"sandlot_command\" \"a\" {\n  sandbox_id = \"local/a\"\n  " + body + "\n}\n"
}

func badRows() []badRow {
	// The framework itself reports what is required, without a code.
	const invalid, unsupported, required = "invalid_value", "unsupported", ""
	named := func(kind, name string) string {
		return fmt.Sprintf("resource %q \"a\" {\n  backend = \"local\"\n  name = %q\n}\n", kind, name)
	}
	content := "content = \"x\""
	return []badRow{
		// Names and workspace ids.
		{name: "name empty", hcl: named(session, ""), at: "name", code: invalid},
		{name: "name of 64", hcl: named(session, strings.Repeat("a", 64)), at: "name", code: invalid},
		{name: "name in upper case", hcl: named(session, "Box"), at: "name", code: invalid},
		{name: "name with leading hyphen", hcl: named(session, "-box"), at: "name", code: invalid},
		{name: "name with trailing hyphen", hcl: named(session, "box-"), at: "name", code: invalid},
		{name: "name with slash", hcl: named(session, "a/b"), at: "name", code: invalid},
		{name: "name of dots", hcl: named(session, ".."), at: "name", code: invalid},
		{name: "name with NUL", hcl: "resource \"sandlot_sandbox\" \"a\" {\n  backend = \"local\"\n  name = \"a\\u0000b\"\n}\n", at: "name", code: invalid},
		{name: "persistent name in upper case", hcl: named(persistent, "Box"), at: "name", code: invalid},
		{name: "name and workspace id", hcl: badPersistent("name = \"a\"\n  workspace_id = \"w1\""), at: "workspace_id", code: invalid},
		{name: "neither name nor workspace id", hcl: badPersistent(""), at: "workspace_id", code: invalid},
		{name: "workspace id empty", hcl: badPersistent(`workspace_id = ""`), at: "workspace_id", code: invalid},
		{name: "workspace id blank", hcl: badPersistent(`workspace_id = " \t\n "`), at: "workspace_id", code: invalid},
		{name: "workspace id of 1025", hcl: badPersistent(`workspace_id = "` + strings.Repeat("w", 1025) + `"`), at: "workspace_id", code: invalid},
		{name: "derived name too long", provider: `name_prefix = "` + strings.Repeat("p", 50) + `"`, hcl: badPersistent(`workspace_id = "w1"`), at: "workspace_id", code: invalid, plan: true},
		{name: "generation makes the name too long", hcl: badPersistent(`name = "` + strings.Repeat("a", 62) + "\"\n  generation = 2"), at: "name", code: invalid, plan: true},
		{name: "two resources of one workspace id", hcl: badPersistent(`workspace_id = "w1"`) + strings.ReplaceAll(badPersistent(`workspace_id = " w1 "`), `"a"`, `"b"`), at: "workspace_id", code: "duplicate_workspace", plan: true},
		{name: "two resources of one name", hcl: badSession("local", "") + strings.Replace(badSession("local", ""), `"sandlot_sandbox" "a"`, `"sandlot_sandbox" "b"`, 1), at: "name", code: "duplicate_workspace", plan: true},
		{name: "a session and a persistent one of one name", hcl: badSession("local", "") + badPersistent(`name = "a"`), at: "name", code: "duplicate_workspace", plan: true},

		// Backend and source.
		{name: "unknown backend", hcl: badSession("podman", ""), at: "backend", code: invalid},
		{name: "backend empty", hcl: badSession("", ""), at: "backend", code: invalid},
		{name: "source given twice", hcl: badSession("local", `source = { rootfs = "/srv/root", snapshot_id = "s" }`), at: "source", code: invalid},
		{name: "source empty", hcl: badSession("local", `source = {}`), at: "source", code: invalid},
		{name: "source misspelled", hcl: badSession("docker", `source = { imgae = "debian" }`), at: "source", code: invalid},
		{name: "no source on docker", hcl: badSession("docker", ""), at: "source", code: unsupported},
		{name: "image no reference", hcl: badSession("docker", `source = { image = "Not An Image" }`), at: "source.image", code: invalid},
		{name: "image empty", hcl: badSession("docker", `source = { image = "" }`), at: "source.image", code: invalid},
		{name: "rootfs relative", hcl: badSession("local", `source = { rootfs = "root" }`), at: "source.rootfs", code: invalid},
		{name: "rootfs not clean", hcl: badSession("local", `source = { rootfs = "/srv/../etc" }`), at: "source.rootfs", code: invalid},
		{name: "rootfs is the host's root", hcl: badSession("local", `source = { rootfs = "/" }`), at: "source.rootfs", code: invalid},
		{name: "rootfs holds the data directory", hcl: badSession("local", `source = { rootfs = "{BASE}" }`), at: "source.rootfs", code: invalid, plan: true},
		{name: "rootfs holds the engine's socket", hcl: badSession("local", `source = { rootfs = "/var" }`), at: "source.rootfs", code: invalid, plan: true},
		{name: "rootfs on docker", hcl: badSession("docker", `source = { rootfs = "/srv/root" }`), at: "source.rootfs", code: unsupported},
		{name: "image on local", hcl: badSession("local", `source = { image = "debian" }`), at: "source.image", code: unsupported},
		{name: "snapshot empty", hcl: badSession("local", `source = { snapshot_id = "" }`), at: "source.snapshot_id", code: invalid},
		{name: "clone of another backend", hcl: badSession("local", `source = { clone_of = "docker/b" }`), at: "source.clone_of", code: invalid},
		{name: "clone of no id", hcl: badSession("local", `source = { clone_of = "b" }`), at: "source.clone_of", code: invalid},
		{name: "clone of itself", hcl: badSession("local", `source = { clone_of = "local/a" }`), at: "source.clone_of", code: invalid},

		// Options that a backend does not have.
		{name: "cpus on local", hcl: badSession("local", `cpus = 1`), at: "cpus", code: unsupported},
		{name: "memory on local", hcl: badSession("local", `memory_mib = 512`), at: "memory_mib", code: unsupported},
		{name: "user on local", hcl: badSession("local", `user = "root"`), at: "user", code: unsupported},
		{name: "command on local", hcl: badSession("local", `command = ["sleep", "1"]`), at: "command", code: unsupported},
		{name: "timeout on local", hcl: badSession("local", `timeout = "1h"`), at: "timeout", code: unsupported},
		{name: "ports on local", hcl: badSession("local", `ports = [{ port = 80 }]`), at: "ports", code: unsupported},
		{name: "volumes on local", hcl: badSession("local", `volumes = { cache = { target = "/cache" } }`), at: "volumes", code: unsupported},
		{name: "docker options on local", hcl: badSession("local", `docker = {}`), at: "docker", code: unsupported},
		{name: "setup user on local", hcl: badSession("local", `setup = [{ command = ["true"], user = "root" }]`), at: "setup[0].user", code: unsupported},
		{name: "command user on local", hcl: badCommand("command = [\"true\"]\n  user = \"root\""), at: "user", code: unsupported},
		{name: "absolute file path on local", hcl: badFile("path = \"/etc/motd\"\n  " + content), at: "path", code: unsupported},
		{name: "absolute file path back out on local", hcl: badFile("path = \"/workspace/../etc/motd\"\n  " + content), at: "path", code: unsupported},
		{name: "host network on docker", hcl: badImage(`network = { mode = "host" }`), at: "network.mode", code: unsupported},
		{name: "network mode of another backend", hcl: badSession("local", `network = { mode = "restricted" }`), at: "network.mode", code: unsupported},
		{name: "network mode of no backend", hcl: badSession("local", `network = { mode = "filtered" }`), at: "network.mode", code: invalid},
		{name: "capability lacking", hcl: badSession("local", `require_capabilities = ["ports"]`), at: "require_capabilities[*]", code: unsupported},
		{name: "capability unknown", hcl: badSession("local", `require_capabilities = ["flying"]`), at: "require_capabilities[*]", code: invalid},
		{name: "capability null", hcl: badSession("local", `require_capabilities = [null]`), at: "require_capabilities[*]", code: invalid},

		// Sizes, ports, durations, states.
		{name: "cpus 0", hcl: badImage(`cpus = 0`), at: "cpus", code: invalid},
		{name: "cpus negative", hcl: badImage(`cpus = -1`), at: "cpus", code: invalid},
		{name: "cpus 1025", hcl: badImage(`cpus = 1025`), at: "cpus", code: invalid},
		{name: "memory 7", hcl: badImage(`memory_mib = 7`), at: "memory_mib", code: invalid},
		{name: "memory of a petabyte", hcl: badImage(`memory_mib = 1073741824`), at: "memory_mib", code: invalid},
		{name: "pids limit 0", hcl: badImage(`docker = { pids_limit = 0 }`), at: "docker.pids_limit", code: invalid},
		{name: "port 0", hcl: badImage(`ports = [{ port = 0 }]`), at: "ports[*].port", code: invalid},
		{name: "port 65536", hcl: badImage(`ports = [{ port = 65536 }]`), at: "ports[*].port", code: invalid},
		{name: "published port 0", hcl: badImage(`ports = [{ port = 80, published_port = 0 }]`), at: "ports[*].published_port", code: invalid},
		{name: "port twice", hcl: badImage(`ports = [{ port = 80 }, { port = 80, protocol = "tcp" }]`), at: "ports[*]", code: invalid},
		{name: "host port twice", hcl: badImage(`ports = [{ port = 80, published_port = 8080 }, { port = 81, published_port = 8080 }]`), at: "ports[*]", code: invalid},
		{name: "protocol", hcl: badImage(`ports = [{ port = 80, protocol = "sctp" }]`), at: "ports[*].protocol", code: invalid},
		{name: "port null", hcl: badImage(`ports = [null]`), at: "ports[*].port", code: required},
		{name: "duration without unit", hcl: badImage(`timeout = "5"`), at: "timeout", code: invalid},
		{name: "duration negative", hcl: badImage(`timeout = "-1s"`), at: "timeout", code: invalid},
		{name: "duration with space", hcl: badImage(`timeout = "1 h"`), at: "timeout", code: invalid},
		{name: "duration 0", hcl: badImage(`timeout = "0s"`), at: "timeout", code: invalid},
		{name: "time limit in days", hcl: badSession("local", `timeouts = { create = "1d" }`), at: "timeouts.create", code: invalid},
		{name: "time limit negative", hcl: badSession("local", `timeouts = { delete = "-5m" }`), at: "timeouts.delete", code: invalid},
		{name: "setup timeout", hcl: badSession("local", `setup = [{ command = ["true"], timeout = "soon" }]`), at: "setup[0].timeout", code: invalid},
		{name: "command timeout", hcl: badCommand("command = [\"true\"]\n  timeout = \"-1s\""), at: "timeout", code: invalid},
		{name: "retention expiration", hcl: badPersistent("workspace_id = \"w1\"\n  snapshot_retention = { expiration = \"1w\" }"), at: "snapshot_retention.expiration", code: invalid},
		{name: "keep_last 0", hcl: badPersistent("workspace_id = \"w1\"\n  snapshot_retention = { keep_last = 0 }"), at: "snapshot_retention.keep_last", code: invalid},
		{name: "generation 0", hcl: badPersistent("workspace_id = \"w1\"\n  generation = 0"), at: "generation", code: invalid},
		{name: "generation negative", hcl: badPersistent("workspace_id = \"w1\"\n  generation = -1"), at: "generation", code: invalid},
		{name: "on_destroy", hcl: badSession("local", `on_destroy = "delete"`), at: "on_destroy", code: invalid},
		{name: "on_missing", hcl: badPersistent("workspace_id = \"w1\"\n  on_missing = \"ignore\""), at: "on_missing", code: invalid},
		{name: "desired_state", hcl: badSession("local", `desired_state = "paused"`), at: "desired_state", code: invalid},
		{name: "pull policy", hcl: badImage(`docker = { pull_policy = "sometimes" }`), at: "docker.pull_policy", code: invalid},
		{name: "runtime empty", hcl: badImage(`docker = { runtime = "" }`), at: "docker.runtime", code: invalid},
		{name: "Linux capability with prefix", hcl: badImage(`docker = { add_capabilities = ["CAP_NET_RAW"] }`), at: "docker.add_capabilities[*]", code: invalid},
		{name: "all Linux capabilities", hcl: badImage(`docker = { add_capabilities = ["ALL"] }`), at: "docker.add_capabilities[*]", code: invalid},
		{name: "user with shell", hcl: badImage(`user = "root;id"`), at: "user", code: invalid},
		{name: "working directory relative", hcl: badSession("local", `working_directory = "src"`), at: "working_directory", code: invalid},

		// What only a platform refuses.
		{name: "host network on vercel", hcl: badSession("vercel", `network = { mode = "host" }`), at: "network.mode", code: unsupported},
		{name: "lists outside the restricted mode", hcl: badSession("vercel", `network = { mode = "deny-all", allow_domains = ["a.example"] }`), at: "network.mode", code: unsupported},
		{name: "vCPUs 3", hcl: badSession("vercel", `cpus = 3`), at: "cpus", code: unsupported},
		{name: "memory apart from vCPUs", hcl: badSession("vercel", "cpus = 2\n  memory_mib = 2048"), at: "memory_mib", code: unsupported},
		{name: "port on loopback", hcl: badSession("vercel", `ports = [{ port = 3000 }]`), at: "ports", code: unsupported},
		{name: "chosen address of a public port", hcl: badSession("vercel", `ports = [{ port = 3000, published_port = 80, public = true }]`), at: "ports", code: unsupported},
		{name: "low public port", hcl: badSession("vercel", `ports = [{ port = 80, public = true }]`), at: "ports", code: unsupported},
		{name: "three labels", hcl: badSession("vercel", `labels = { a = "", b = "", c = "" }`), at: "labels", code: unsupported},
		{name: "session of a day and a second", hcl: badSession("vercel", `timeout = "24h0m1s"`), at: "timeout", code: unsupported},
		{name: "environment of 4097 bytes", hcl: badSession("vercel", `environment = { A = "`+strings.Repeat("x", 4096)+`" }`), at: "environment", code: unsupported},
		{name: "failover without region", hcl: badSession("vercel", `vercel = { failover_regions = ["sfo1"] }`), at: "vercel.failover_regions", code: unsupported},
		{name: "failover to the region itself", hcl: badSession("vercel", `vercel = { region = "sfo1", failover_regions = ["sfo1"] }`), at: "vercel.failover_regions", code: unsupported},
		{name: "eleven snapshots kept", hcl: strings.Replace(badPersistent("workspace_id = \"w1\"\n  snapshot_retention = { keep_last = 11 }"), `"local"`, `"vercel"`, 1), at: "snapshot_retention.keep_last", code: unsupported},
		{name: "snapshots for an hour", hcl: strings.Replace(badPersistent("workspace_id = \"w1\"\n  snapshot_retention = { expiration = \"1h\" }"), `"local"`, `"vercel"`, 1), at: "snapshot_retention.expiration", code: unsupported},
		{name: "mount on vercel", hcl: badSession("vercel", `mounts = [{ source = "/srv", target = "/srv" }]`), at: "mounts", code: unsupported},
		{name: "volume on vercel", hcl: badSession("vercel", `volumes = { a = { target = "/a" } }`), at: "volumes", code: unsupported},
		{name: "user on vercel", hcl: badSession("vercel", `user = "root"`), at: "user", code: unsupported},
		{name: "main process on vercel", hcl: badSession("vercel", `command = ["true"]`), at: "command", code: unsupported},
		{name: "working directory on vercel", hcl: badSession("vercel", `working_directory = "/tmp"`), at: "working_directory", code: unsupported},
		{name: "root file system on vercel", hcl: badSession("vercel", `source = { rootfs = "/srv" }`), at: "source.rootfs", code: unsupported},

		// Environment, secrets, labels.
		{name: "variable that starts with a digit", hcl: badSession("local", `environment = { "1A" = "x" }`), at: `environment["1A"]`, code: invalid},
		{name: "variable with hyphen", hcl: badSession("local", `environment = { "A-B" = "x" }`), at: `environment["A-B"]`, code: invalid},
		{name: "variable empty", hcl: badSession("local", `environment = { "" = "x" }`), at: `environment[""]`, code: invalid},
		{name: "variable with sign", hcl: badSession("local", `environment = { "A=B" = "x" }`), at: `environment["A=B"]`, code: invalid},
		{name: "variable null", hcl: badSession("local", `environment = { A = null }`), at: `environment["A"]`, code: invalid},
		{name: "variable with NUL", hcl: badSession("local", `environment = { A = "x\u0000" }`), at: `environment["A"]`, code: invalid},
		{name: "secret without version", hcl: badSession("local", `secret_environment_wo = { A = "x" }`), at: "secret_environment_wo_version", code: invalid},
		{name: "secret in environment too", hcl: badSession("local", "environment = { A = \"x\" }\n  secret_environment_wo = { A = \"y\" }\n  secret_environment_wo_version = 1"), at: `secret_environment_wo["A"]`, code: invalid},
		{name: "secret with bad name", hcl: badSession("local", "secret_environment_wo = { \"A B\" = \"y\" }\n  secret_environment_wo_version = 1"), at: `secret_environment_wo["A B"]`, code: invalid},
		{name: "label of ours", hcl: badSession("local", `labels = { "sandlot.owner" = "me" }`), at: `labels["sandlot.owner"]`, code: invalid},
		{name: "label null", hcl: badSession("local", `labels = { a = null }`), at: `labels["a"]`, code: invalid},
		{name: "setup variable", hcl: badSession("local", `setup = [{ command = ["true"], environment = { "A-B" = "x" } }]`), at: `setup[0].environment["A-B"]`, code: invalid},
		{name: "command variable", hcl: badCommand("command = [\"true\"]\n  environment = { \"1A\" = \"x\" }"), at: `environment["1A"]`, code: invalid},

		// Mounts and volumes.
		{name: "mount of the data directory", hcl: badSession("local", `mounts = [{ source = "{DATA}", target = "/data" }]`), at: "mounts[*].source", code: invalid, plan: true},
		{name: "mount of its child", hcl: badSession("local", `mounts = [{ source = "{DATA}/local", target = "/data" }]`), at: "mounts[*].source", code: invalid, plan: true},
		{name: "mount of its parent", hcl: badSession("local", `mounts = [{ source = "{BASE}", target = "/data" }]`), at: "mounts[*].source", code: invalid, plan: true},
		{name: "mount of the host's root", hcl: badSession("local", `mounts = [{ source = "/", target = "/data", read_only = true }]`), at: "mounts[*].source", code: invalid, plan: true},
		{name: "mount of the engine's socket", hcl: badImage(`mounts = [{ source = "/var/run/docker.sock", target = "/engine" }]`), at: "mounts[*].source", code: invalid, plan: true},
		{name: "mount of the socket's parent", hcl: badImage(`mounts = [{ source = "/var/run", target = "/engine" }]`), at: "mounts[*].source", code: invalid, plan: true},
		{name: "mount of the configured engine's socket", hcl: badImage(`mounts = [{ source = "{SOCKET}", target = "/engine" }]`), at: "mounts[*].source", code: invalid, plan: true},
		{name: "mount of its directory on local", hcl: badSession("local", `mounts = [{ source = "{SOCKET_DIR}", target = "/engine" }]`), at: "mounts[*].source", code: invalid, plan: true},
		{name: "mount source relative", hcl: badSession("local", `mounts = [{ source = "src", target = "/src" }]`), at: "mounts[*].source", code: invalid},
		{name: "mount target relative", hcl: badSession("local", `mounts = [{ source = "/srv", target = "src" }]`), at: "mounts[*].target", code: invalid},
		{name: "mount over the root", hcl: badSession("local", `mounts = [{ source = "/srv", target = "/" }]`), at: "mounts[*].target", code: invalid},
		{name: "mount into proc", hcl: badSession("local", `mounts = [{ source = "/srv", target = "/proc/x" }]`), at: "mounts[*].target", code: invalid},
		{name: "two mounts on one target", hcl: badSession("local", `mounts = [{ source = "/srv", target = "/x" }, { source = "/opt", target = "/x" }]`), at: "mounts[*]", code: invalid},
		{name: "volume on a mount's target", hcl: badImage("mounts = [{ source = \"/srv\", target = \"/x\" }]\n  volumes = { x = { target = \"/x\" } }"), at: `volumes["x"]`, code: invalid},
		{name: "volume over the workspace", hcl: badImage(`volumes = { x = { target = "/workspace" } }`), at: `volumes["x"]`, code: invalid},
		{name: "volume name", hcl: badImage(`volumes = { "../x" = { target = "/x" } }`), at: `volumes["../x"]`, code: invalid},
		{name: "volume null", hcl: badImage(`volumes = { x = null }`), at: `volumes["x"].target`, code: required},

		// Files.
		{name: "file path upwards", hcl: badFile("path = \"../a\"\n  " + content), at: "path", code: invalid},
		{name: "file path late upwards", hcl: badFile("path = \"a/../../b\"\n  " + content), at: "path", code: invalid},
		{name: "file path out and back", hcl: badFile("path = \"../workspace/a\"\n  " + content), at: "path", code: invalid},
		{name: "file path with NUL", hcl: badFile("path = \"a\\u0000b\"\n  " + content), at: "path", code: invalid},
		{name: "file path empty", hcl: badFile("path = \"\"\n  " + content), at: "path", code: invalid},
		{name: "file path ending in slash", hcl: badFile("path = \"a/\"\n  " + content), at: "path", code: invalid},
		{name: "file path ending in a dot", hcl: badFile("path = \"a/.\"\n  " + content), at: "path", code: invalid},
		{name: "file path ending in two dots", hcl: badFile("path = \"a/b/..\"\n  " + content), at: "path", code: invalid},
		{name: "file path of the workspace", hcl: badFile("path = \".\"\n  " + content), at: "path", code: invalid},
		{name: "file mode of digits", hcl: badFile("path = \"a\"\n  mode = \"999\"\n  " + content), at: "mode", code: invalid},
		{name: "file mode with set-id", hcl: badFile("path = \"a\"\n  mode = \"4755\"\n  " + content), at: "mode", code: invalid},
		{name: "file mode of letters", hcl: badFile("path = \"a\"\n  mode = \"rw\"\n  " + content), at: "mode", code: invalid},
		{name: "file content twice", hcl: badFile("path = \"a\"\n  content_base64 = \"eA==\"\n  " + content), at: "content", code: invalid},
		{name: "file content absent", hcl: badFile("path = \"a\""), at: "content", code: invalid},
		{name: "file of bad base64", hcl: badFile("path = \"a\"\n  content_base64 = \"not base64!\""), at: "content_base64", code: invalid},
		{name: "file of a missing source", hcl: badFile("path = \"a\"\n  source = \"{DIR}/absent\""), at: "source", code: invalid, plan: true},
		{name: "file of a directory", hcl: badFile("path = \"a\"\n  source = \"{DIR}\""), at: "source", code: invalid, plan: true},
		{name: "file on_destroy", hcl: badFile("path = \"a\"\n  on_destroy = \"keep\"\n  " + content), at: "on_destroy", code: invalid},
		{name: "file in no sandbox", hcl: "resource \"sandlot_file\" \"a\" {\n  sandbox_id = \"a\"\n  path = \"a\"\n  content = \"x\"\n}\n", at: "sandbox_id", code: invalid},
		{name: "file in an unknown backend", hcl: "resource \"sandlot_file\" \"a\" {\n  sandbox_id = \"podman/a\"\n  path = \"a\"\n  content = \"x\"\n}\n", at: "sandbox_id", code: invalid},
		{name: "two files of one path", hcl: badFile("path = \"a\"\n  "+content) + strings.Replace(badFile("path = \"./a\"\n  "+content), `"sandlot_file" "a"`, `"sandlot_file" "b"`, 1), at: "path", code: "duplicate_file", plan: true},
		{name: "two files of one absolute path", hcl: badFile("path = \"a\"\n  "+content) + strings.Replace(badFile("path = \"/workspace/a\"\n  "+content), `"sandlot_file" "a"`, `"sandlot_file" "b"`, 1), at: "path", code: "duplicate_file", plan: true},

		// Commands.
		{name: "command without words", hcl: badCommand(`command = []`), at: "command", code: invalid},
		{name: "command without a program", hcl: badCommand(`command = ["", "a"]`), at: "command[0]", code: invalid},
		{name: "command with null", hcl: badCommand(`command = ["echo", null]`), at: "command[1]", code: invalid},
		{name: "command with NUL", hcl: badCommand(`command = ["echo", "a\u0000"]`), at: "command[1]", code: invalid},
		{name: "destroy command without a program", hcl: badCommand("command = [\"true\"]\n  destroy_command = [\"\"]"), at: "destroy_command[0]", code: invalid},
		{name: "setup without words", hcl: badSession("local", `setup = [{ command = [] }]`), at: "setup[0].command", code: invalid},
		{name: "setup without a program", hcl: badSession("local", `setup = [{ command = ["true"] }, { command = [""] }]`), at: "setup[1].command[0]", code: invalid},
		{name: "setup null", hcl: badSession("local", `setup = [null]`), at: "setup[0].command", code: required},
		{name: "main process without words", hcl: badImage(`command = []`), at: "command", code: invalid},
		{name: "main process without a program", hcl: badImage(`command = [""]`), at: "command[0]", code: invalid},

		// The provider.
		{name: "provider on_destroy", provider: `on_destroy = "delete"`, hcl: badSession("local", ""), at: "on_destroy", code: invalid},
		{name: "provider data_dir relative", provider: `data_dir = "data"`, hcl: badSession("local", ""), at: "data_dir", code: invalid},
		{name: "provider data_dir empty", provider: `data_dir = ""`, hcl: badSession("local", ""), at: "data_dir", code: invalid},
		{name: "provider data_dir with %", provider: `data_dir = "/tmp/%h"`, hcl: badSession("local", ""), at: "data_dir", code: invalid},
		{name: "provider data_dir with line break", provider: `data_dir = "/tmp/a\nb"`, hcl: badSession("local", ""), at: "data_dir", code: invalid},
		{name: "provider namespace", provider: `namespace = "Dev"`, hcl: badSession("local", ""), at: "namespace", code: invalid},
		{name: "provider name_prefix", provider: `name_prefix = "my_prefix"`, hcl: badSession("local", ""), at: "name_prefix", code: invalid},
		{name: "provider owner empty", provider: `owner = ""`, hcl: badSession("local", ""), at: "owner", code: invalid},
		{name: "provider owner blank", provider: `owner = " "`, hcl: badSession("local", ""), at: "owner", code: invalid},
		{name: "provider docker host and context", provider: `docker = { host = "unix:///x.sock", context = "c" }`, hcl: badSession("local", ""), at: "docker.host", code: invalid},
		{name: "provider docker host of no scheme", provider: `docker = { host = "engine.example.com" }`, hcl: badSession("local", ""), at: "docker.host", code: invalid},
		{name: "provider docker host empty", provider: `docker = { host = "" }`, hcl: badSession("local", ""), at: "docker.host", code: invalid},
		{name: "provider docker certificate relative", provider: `docker = { ca_file = "ca.pem" }`, hcl: badSession("local", ""), at: "docker.ca_file", code: invalid},
		{name: "provider isolation", provider: `local = { isolation = "docker" }`, hcl: badSession("local", ""), at: "local.isolation", code: invalid},
		{name: "provider bubblewrap relative", provider: `local = { bubblewrap_path = "bwrap" }`, hcl: badSession("local", ""), at: "local.bubblewrap_path", code: invalid},
	}
}
