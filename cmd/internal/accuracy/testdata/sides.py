"""Work out which sides of the ships can be seen in a picture of the photorealistic renderer.

    blender -b -P sides.py -- RENDER_TABLE_PY PICTURE_DIR...

PICTURE_DIR holds scene.json, settings.json and o/truth.json. The renderer builds the same table again (seconds: nothing
is rendered), and rays go from the camera to the coded rim of every side, as the renderer's own `visible` does: 0.5 mm
apart along the side, four rows over the rim's 3.7 mm, at the token's height. A ray that the ship's own miniature, a
clear peg, clutter or a hand stops does not count. DIR/o/sides.json gets, for each ship, the shares of the front, right,
rear and left side that reach the camera: {"A1": [1, 0.93, ...]}. A side counts as whole from 0.97 on, as
tablesim.ShipTruth.WholeSide has it.

The renderer is not part of the project: this script runs it with the call that renders replaced.
"""
import json, os, sys, tempfile

RIM_DEEP, STEP, ROWS, TOP = 3.7, 0.5, 4, 4.02
RENDER_CALL = "    bpy.ops.render.render(write_still=True)\n"


def shares(ships, bases, bevel, seen):
    out = {}
    for s, _, M in ships:
        L, Ly = bases[s["base"]][:2]
        out[s["id"]] = []
        for side in range(4):                                        # front, right, rear, left
            half, reach = (L / 2, Ly / 2) if side % 2 == 0 else (Ly / 2, L / 2)
            pts = []
            n = int(2 * half / STEP + 0.5)
            for i in range(n):
                along = -half + (i + 0.5) * STEP
                for d in range(ROWS):
                    far = reach - (d + 0.5) / ROWS * RIM_DEEP
                    x, y = ((along, far), (far, -along), (-along, -far), (-far, along))[side]
                    pts.append(M @ Vector((x, y, TOP)))
            out[s["id"]].append(seen(pts))
    return out


def main():
    args = sys.argv[sys.argv.index("--") + 1:]
    source = open(args[0]).read()
    if source.count(RENDER_CALL) != 1:
        sys.exit("sides.py: %s does not render where expected" % args[0])
    source = source.replace(RENDER_CALL, "    raise Seen(shares(ships, BASES, BEVEL, seen), truth_ships)\n")
    code = compile(source.replace("\nmain()", "\n"), args[0], "exec")

    class Seen(Exception):
        pass

    for folder in args[1:]:
        tempfile.tempdir = None
        with tempfile.TemporaryDirectory() as out:
            tempfile.tempdir = out                                   # the renderer's own leavings go with it
            sys.argv = ["blender", "--", "--scene", folder + "/scene.json", "--settings", folder + "/settings.json", "--out", out]
            if os.path.isdir(folder + "/tokens"):
                sys.argv += ["--tokens", folder + "/tokens"]
            env = {"__name__": "render_table", "__file__": args[0], "shares": shares, "Seen": Seen}
            exec(code, env)
            globals()["Vector"] = env["Vector"]
            try:
                env["main"]()
                sys.exit("sides.py: %s was not worked out" % folder)
            except Seen as e:
                sides, again = e.args
        truth = json.load(open(folder + "/o/truth.json"))
        for a, b in zip(truth["ships"], again):                      # the same table, or the figures mean nothing
            if a["id"] != b["id"] or abs(a["visible"] - b["visible"]) > 0.003:
                sys.exit("sides.py: %s: %s is seen to %.4f, the truth says %.4f" % (folder, b["id"], b["visible"], a["visible"]))
        with open(folder + "/o/sides.json", "w") as f:
            json.dump(sides, f, separators=(",", ":"))
        print("sides", folder, {k: v for k, v in sides.items() if max(v) < 0.97})


main()
