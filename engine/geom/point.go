package geom

import "math"

// Tie is how near two exactly known lengths, in mm, must be to count as equal: 1e-9 mm is
// a thousand times the rounding of coordinates of some metres, and a millionth
// of what any table can show.
const Tie = 1e-9

// Sq returns x squared.
func Sq(x float64) float64 { return x * x }

// Point is a place on the table, or a vector between two places, in millimetres
// of the table frame.
type Point struct{ X, Y float64 }

// Add returns p + q.
func (p Point) Add(q Point) Point { return Point{p.X + q.X, p.Y + q.Y} }

// Sub returns p - q, the vector from q to p.
func (p Point) Sub(q Point) Point { return Point{p.X - q.X, p.Y - q.Y} }

// Mul returns the vector p scaled by k.
func (p Point) Mul(k float64) Point { return Point{k * p.X, k * p.Y} }

// Dot returns the scalar product of the vectors p and q.
func (p Point) Dot(q Point) float64 { return p.X*q.X + p.Y*q.Y }

// Cross returns the z component of the vector product of p and q: positive when
// q lies to the left of p.
func (p Point) Cross(q Point) float64 { return p.X*q.Y - p.Y*q.X }

// Norm returns the length of the vector p in millimetres.
func (p Point) Norm() float64 { return math.Hypot(p.X, p.Y) }

// Distance returns the distance between two points.
func (p Point) Distance(q Point) Length { return Length(p.Sub(q).Norm()) }

// Lerp returns the point that lies the fraction t of the way from p to q.
func (p Point) Lerp(q Point, t float64) Point { return p.Add(q.Sub(p).Mul(t)) }

// Line is a straight line from one point to another.
type Line [2]Point

// Pixel is a place in a picture: x right, y down, pixel centres at integers
// (see the package comment). It is a type of its own so that pixels and table
// points cannot be mixed.
type Pixel struct{ X, Y float64 }

// Add returns p + q.
func (p Pixel) Add(q Pixel) Pixel { return Pixel{p.X + q.X, p.Y + q.Y} }

// Sub returns p - q.
func (p Pixel) Sub(q Pixel) Pixel { return Pixel{p.X - q.X, p.Y - q.Y} }

// Mul returns p scaled by k.
func (p Pixel) Mul(k float64) Pixel { return Pixel{k * p.X, k * p.Y} }

// Norm returns the length of p in pixels.
func (p Pixel) Norm() float64 { return math.Hypot(p.X, p.Y) }

// Pose is a position and a heading on the table. A ship's pose is the centre of
// its base and the direction of its nose.
type Pose struct {
	Point
	Heading Angle
}

// Forward returns the unit vector of the heading.
func (p Pose) Forward() Point {
	s, c := math.Sincos(float64(p.Heading))
	return Point{s, c}
}

// Right returns the unit vector to the right of the heading.
func (p Pose) Right() Point {
	s, c := math.Sincos(float64(p.Heading))
	return Point{c, -s}
}

// Transform takes a point of the pose's own frame (x to the right of the nose,
// y along it) to the table.
func (p Pose) Transform(local Point) Point {
	s, c := math.Sincos(float64(p.Heading))
	return Point{p.X + c*local.X + s*local.Y, p.Y - s*local.X + c*local.Y}
}

// TransformAll takes an outline of the pose's own frame to the table.
func (p Pose) TransformAll(local []Point) Polygon {
	out := make(Polygon, len(local))
	for i, q := range local {
		out[i] = p.Transform(q)
	}
	return out
}

// Inverse takes a point of the table to the pose's own frame; it undoes Transform.
func (p Pose) Inverse(table Point) Point {
	s, c := math.Sincos(float64(p.Heading))
	d := table.Sub(p.Point)
	return Point{c*d.X - s*d.Y, s*d.X + c*d.Y}
}
