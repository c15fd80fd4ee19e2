package engine_test

import (
	"fmt"

	"sightline/engine"
	"sightline/engine/scenefile"
)

func ExampleMeasurePair() {
	scenes, _, err := scenefile.Parse([]byte(`{"version":1,"rules":"2.5","ships":[
		{"id":"A1","base":"small","x_mm":400,"y_mm":200,"heading_deg":0,"covariance":[0.06,0,0,0,0.06,0,0,0,0.03]},
		{"id":"B1","base":"large","x_mm":450,"y_mm":460,"heading_deg":160}]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := engine.MeasurePair(&scenes[0], "A1", "B1", engine.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("range %d: %v ± %v, contact %v\n", v.Range.Band, v.Range.Distance, v.Range.Sigma, v.Contact)
	for _, a := range v.Arcs {
		if a.InArc == engine.Yes {
			fmt.Printf("in %v arc, attack range %d\n", a.Arc, a.Attack.Band)
		}
	}
	// Output:
	// range 2: 188.83 mm ± 0.25 mm, contact no
	// in front arc, attack range 2
	// in full_front arc, attack range 2
	// in bullseye arc, attack range 3
}

func ExampleBand() {
	fmt.Println(engine.Band(engine.Rules25, 100), engine.Band(engine.Rules25, 100.1), engine.Band(engine.Rules25, 0),
		engine.Band(engine.Rules1e, 0))
	// Output: 1 2 0 1
}

func Example_sceneFile() {
	_, _, err := scenefile.Parse([]byte(`{"version":1,"rules":"2.5","ships":[{"id":"A1","base":"small","x_mm":1,"y_mm":2,"heading":3}]}`))
	fmt.Println(err)
	// Output: line 1, column 91: ships[0] (A1): heading: unknown key
}
