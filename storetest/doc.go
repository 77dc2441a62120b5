// Package storetest is the suite that every [sessile.Store] passes: a driver is whatever passes it. A driver's own test
// hands over a way to open a store:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t testing.TB, dir string) sessile.Store { … })
//	}
//
//	func TestCrash(t *testing.T) { storetest.Crash(t, open) }
//
// [Run] covers every method of the ports, what transactions promise (atomicity, isolation, order, ids never used
// twice) and concurrency. [Crash] kills a process in the middle of its writes and looks for what it had been told was
// durable. A fault that one driver shows becomes a case for all.
package storetest
