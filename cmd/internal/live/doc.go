// Package live defines the state of the table and the rules for asking about it. Its
// types are plain values that know neither HTTP nor cameras.
//
// A [State] is everything known at one instant: the picture, the ships and their tracks,
// the measurements, the chosen pair and its answer, the agreement on measuring ([Policy]),
// the held picture ([Held]), the last [Ruling], the match and the program's health.
//
// The package also decides which answers may be shown (Policy), which rulings are valid
// ([NewRuling]), where a move would end ([State.Preview]) and who may release a held
// picture ([HoldRequest.Check]). It words the answers for every output ([State.Text]).
// A request that it turns down returns a [*Refusal].
//
// Package game makes each State and publishes it to a [Hub]; a published State never
// changes. The page, the overlay, the lamps and the display all read the newest State from
// the Hub, and a ruling records the held one, so they cannot disagree.
package live
