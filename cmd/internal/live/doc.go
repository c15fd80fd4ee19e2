// Package live is the table as it is known now, and the rules of asking about it: plain
// values, without HTTP and without a camera.
//
// A [State] holds all that is known at one instant: the picture, the ships and their
// tracks, the measurements, the chosen pair and its answer, the agreement on measuring
// ([Policy]), what is held ([Held]), the last [Ruling], the match and the health of the
// program. The package also decides what of an answer may be told (Policy), what a
// judge may rule ([NewRuling]), where a move would end ([State.Preview]) and when a held
// picture is released ([HoldRequest.Refused]), and it words the answers ([State.Text]) for
// every output. What it refuses is a [Refusal].
//
// Package game makes each State and publishes it to a [Hub]. Nothing changes a State
// after that. The page, the overlay, the lamps and the display read the newest State from
// the Hub, and a ruling records what of it is held, so that all of them say the same.
package live
