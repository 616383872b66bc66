// Package api is a typed client of the Vercel Sandbox REST API, generation 3: sandboxes are created
// on /v3/sandboxes (on /v2 when a runtime is chosen), everything else lives below /v2/sandboxes.
//
// The package knows the wire and nothing of Terraform or of the provider's rules. Section numbers
// in comments refer to the wire contract that it was written from. Methods return
// *[backends.Error]; what the API answered is a *[ResponseError] in its chain. A write whose outcome
// is unknown has an *[AmbiguousError] in its chain: see [Client.Reconcile].
//
// On the wire all times are milliseconds since the epoch, all durations milliseconds, sizes bytes
// and memory MiB; here they are [Time], [Duration], [Int].
package api
