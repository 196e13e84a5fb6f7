// RUN: tile-opt %s -split-input-file -verify-diagnostics

// Two elements are at one place: the last divisor is 4 and should be 2.
// expected-error@+1 {{#tile.map<(d0, d1) -> (d0 floordiv 8, d1 floordiv 8, d1 mod 2, (d0 mod 8) * 4 + (d1 mod 8) floordiv 4)> stores the elements (0, 0) and (0, 2) at one place}}
!b = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l floordiv 8, d floordiv 8, d mod 2, 4 * (l mod 8) + (d mod 8) floordiv 4)>, global>

// -----

// expected-error@+1 {{#tile.map<(d0, d1) -> (d0 floordiv 8, d1)> stores the elements (0, 0) and (1, 0) at one place}}
!b = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l floordiv 8, d)>, global>

// -----

// The rows of the storage have 100 elements, but there are 128 columns.
// expected-error@+1 {{#tile.map<(d0, d1) -> (d0 * 100 + d1)> stores the elements (0, 100) and (1, 0) at one place}}
!b = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (100 * l + d)>, global>

// -----

// A dynamic extent may be larger than a stride.
// expected-error@+1 {{#tile.map<(d0, d1) -> (d0 * 128 + d1)> stores the elements (0, 128) and (1, 0) at one place}}
!b = !tile.buffer<?x?xf32, #tile.map<(l, d) -> (128 * l + d)>, global>

// -----

// expected-error@+1 {{cannot lay out memory by digits of d1: 4 does not divide 6}}
!b = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l, d mod 6, d floordiv 4)>, global>

// -----

// expected-error@+1 {{results 1 and 2 both depend on d1 floordiv 1}}
!b = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l, d, d)>, global>

// -----

// expected-error@+1 {{#tile.map<(d0) -> (d0)> has 1 dimensions for a buffer of rank 2}}
!b = !tile.buffer<?x128xf32, #tile.map<(d) -> (d)>, global>

// -----

// expected-error@+1 {{the offsets of the elements exceed 64 bits}}
!b = !tile.buffer<2000000000x2000000000x4xf32, #tile.map<(a, b, c) -> (a, b, c)>, global>

// -----

// expected-error@+1 {{the alignment 2 is less than the 4 bytes of an element}}
!b = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (l, d), align = 2>, global>

// -----

// expected-error@+1 {{cannot lay out memory by 1: a constant term}}
func.func private @f(!tile.buffer<?xf32, #tile.map<(d) -> (d + 1)>, global>)

// -----

// expected-error@+1 {{cannot lay out memory by (d0 + d1) mod 7: mod and floordiv apply to one dimension, not to sums and products}}
func.func private @f(!tile.buffer<?x128xf32, #tile.map<(l, d) -> ((l + d) mod 7)>, global>)

// -----

// expected-error@+1 {{cannot lay out memory by (d0 mod 6) floordiv 4: 4 does not divide 6}}
func.func private @f(!tile.buffer<?xf32, #tile.map<(d) -> ((d mod 6) floordiv 4)>, global>)

// -----

// expected-error@+1 {{cannot lay out memory by -d0: factors and divisors must be constants in 1 .. 2^31}}
func.func private @f(!tile.buffer<?xf32, #tile.map<(d) -> (-d)>, global>)

// -----

// expected-error@+1 {{cannot lay out memory by d0 ceildiv 8: only mod and floordiv are known}}
func.func private @f(!tile.buffer<?xf32, #tile.map<(d) -> (d ceildiv 8)>, global>)

// -----

// expected-error@+1 {{a map has dimensions only, no symbols}}
func.func private @f(!tile.buffer<?xf32, #tile.map<(d)[s] -> (d + s)>, global>)

// -----

// expected-error@+1 {{a map needs at least one dimension and one result}}
func.func private @f(!tile.buffer<?xf32, #tile.map<(d) -> ()>, global>)

// -----

// expected-error@+1 {{the alignment must be a power of two up to 4096 bytes, got 12}}
func.func private @f(!tile.buffer<?xf32, #tile.map<(d) -> (d), align = 12>, global>)

// -----

!b = !tile.buffer<?x128xf32, #tile.map<(l, d) -> (d floordiv 8, l, d mod 8)>, global>
!s = !tile.buffer<128xf32, #tile.map<(d) -> (d floordiv 8, d mod 8)>, global>
func.func @f(%b: !b, %i: index) {
  // expected-error@+1 {{'tile.slice' op cannot fix a dimension of #tile.map<(d0, d1) -> (d1 floordiv 8, d0, d1 mod 8)> that result 1 depends on; only those of leading results that no other dimension shares}}
  %s = tile.slice %b[%i, *] : !b to !s
  return
}
