package tablesim

import "testing"

// BenchmarkRender is one whole picture at 1080p on one core. Budget: 0.6 s.
func BenchmarkRender(b *testing.B) {
	t := RandomTable(1, 1920, 1080)
	t.Workers = 1
	for b.Loop() {
		if _, _, err := t.Render(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNext is one live frame at 1080p on one core, over a whole game.
// Budget: 80 ms.
func BenchmarkNext(b *testing.B) {
	s, err := Open(Options{Workers: 1})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Next(b.Context()); err != nil { // draws everything once
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.Next(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}
