"""Terrain analysis: from a real elevation model to slope, aspect, hillshade and relief.

The input is the Jacksboro fault, Tennessee, a sample that Matplotlib ships. All steps are array expressions of
the Python Array API standard and are submitted without a wait in between, so the same function runs on
millpond's default device and, as a check, on NumPy:

    python examples/python/terrain.py
    python examples/python/terrain.py --namespace numpy
"""

import argparse
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib import cbook

Array = Any
METRES_PER_DEGREE = 111_200
SMOOTHING = 12  # binomial passes; about five cells wide
SUN_AZIMUTH = math.radians(315)  # clockwise from north
SUN_ALTITUDE = math.radians(45)
STEEP = math.radians(15)


class Elevation(NamedTuple):
    """Heights in metres, north up, and the size of a cell in metres."""

    height: np.ndarray
    width: float
    depth: float


class Terrain(NamedTuple):
    """What is computed; grids first, then figures."""

    slope: Array
    aspect: Array
    hillshade: Array
    relief: Array
    highest: Array
    mean_slope: Array
    steep_share: Array


def load() -> Elevation:
    """Read the sample and turn its degrees into metres."""
    sample = cbook.get_sample_data("jacksboro_fault_dem.npz")
    shrink = math.cos(math.radians(float(sample["ymin"])))
    return Elevation(
        sample["elevation"].astype(np.float32),
        float(sample["dx"]) * METRES_PER_DEGREE * shrink,
        float(sample["dy"]) * METRES_PER_DEGREE,
    )


def smooth(height: Array, passes: int) -> Array:
    """Average with the weights 1 2 1 along both axes; each pass takes a cell off every edge."""
    for _ in range(passes):
        rows = (height[:-2, :] + 2 * height[1:-1, :] + height[2:, :]) / 4
        height = (rows[:, :-2] + 2 * rows[:, 1:-1] + rows[:, 2:]) / 4
    return height


def gradient(height: Array, width: float, depth: float) -> tuple[Array, Array]:
    """Rise per metre towards east and north, from the eight neighbours of each inner cell (Horn's method)."""
    columns = height[:-2, :] + 2 * height[1:-1, :] + height[2:, :]
    rows = height[:, :-2] + 2 * height[:, 1:-1] + height[:, 2:]
    east = (columns[:, 2:] - columns[:, :-2]) / (8 * width)
    north = (rows[:-2, :] - rows[2:, :]) / (8 * depth)
    return east, north


def analyse(xp: Any, height: Array, width: float, depth: float) -> Terrain:
    """Submit the whole analysis; nothing here looks at a value, so nothing waits."""
    east, north = gradient(height, width, depth)
    steepness = xp.sqrt(east * east + north * north)
    slope = xp.atan2(steepness, xp.ones_like(steepness))

    # Downhill, as a compass shows it; level ground has no direction.
    downhill = xp.atan2(-east, -north)
    downhill = xp.where(downhill < 0, downhill + 2 * math.pi, downhill)
    aspect = xp.where(steepness == 0, -1.0, downhill)

    light = math.sin(SUN_ALTITUDE) * xp.cos(slope)
    light = light + math.cos(SUN_ALTITUDE) * xp.sin(slope) * xp.cos(SUN_AZIMUTH - downhill)
    hillshade = xp.clip(light, 0.0, 1.0)

    # Hills and hollows: the height over the smoothed surface.
    relief = height[SMOOTHING:-SMOOTHING, SMOOTHING:-SMOOTHING] - smooth(height, SMOOTHING)

    steep_share = xp.mean(xp.where(slope > STEEP, xp.ones_like(slope), xp.zeros_like(slope)))
    return Terrain(slope, aspect, hillshade, relief, xp.max(height), xp.mean(slope), steep_share)


def check(computed: Terrain, elevation: Elevation) -> None:
    """Compare with NumPy, which does the same in double precision."""
    expected = analyse(np, elevation.height.astype(np.float64), elevation.width, elevation.depth)
    for name, ours, theirs in zip(Terrain._fields, computed, expected, strict=True):
        error = np.abs(np.asarray(ours, dtype=np.float64) - np.asarray(theirs))
        if name == "aspect":  # 0 and 360 degrees are the same direction
            error = np.minimum(error, np.abs(2 * math.pi - error))
        scale = max(1.0, float(np.max(np.abs(theirs))))
        if not float(np.max(error)) <= 1e-5 * scale:
            raise SystemExit(f"{name} differs from NumPy by {np.max(error):.3g}")
        print(f"  {name:12} agrees with NumPy, largest difference {np.max(error):.1e}")


def draw(terrain: Terrain, elevation: Elevation, path: Path) -> None:
    """Draw the four grids."""
    slope, aspect, hillshade, relief = (np.asarray(grid) for grid in terrain[:4])
    figure, axes = plt.subplots(2, 2, figsize=(12, 9.2), layout="constrained")
    figure.suptitle("Jacksboro fault, Tennessee")
    for axis in axes.flat:
        axis.set_axis_off()

    axes[0, 0].imshow(hillshade, cmap="gray", vmin=0, vmax=1)
    image = axes[0, 0].imshow(elevation.height[1:-1, 1:-1], cmap="gist_earth", alpha=0.5)
    figure.colorbar(image, ax=axes[0, 0], label="elevation over hillshade (m)")
    image = axes[0, 1].imshow(np.degrees(slope), cmap="magma")
    figure.colorbar(image, ax=axes[0, 1], label="slope (°)")
    facing = np.ma.masked_less(np.degrees(aspect), 0)
    image = axes[1, 0].imshow(facing, cmap="twilight", vmin=0, vmax=360)
    figure.colorbar(image, ax=axes[1, 0], label="facing (° from north)", ticks=[0, 90, 180, 270, 360])
    reach = float(np.percentile(np.abs(relief), 99))
    image = axes[1, 1].imshow(relief, cmap="RdBu_r", vmin=-reach, vmax=reach)
    figure.colorbar(image, ax=axes[1, 1], label="height over the smoothed surface (m)")

    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")


def main() -> None:
    """Run, time, check and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--namespace", choices=["millpond", "numpy"], default="millpond")
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder of the picture")
    parser.add_argument("--repeat", type=int, default=20, help="timed runs")
    arguments = parser.parse_args()

    elevation = load()
    rows, columns = elevation.height.shape
    print(f"elevation model: {rows} x {columns} cells of {elevation.width:.0f} m x {elevation.depth:.0f} m")

    if arguments.namespace == "numpy":
        xp: Any = np
        height: Array = elevation.height

        def wait() -> None:
            """NumPy has computed when it returns."""
    else:
        import millpond
        import millpond.tensor as xp

        print(f"devices: {', '.join(str(device) for device in millpond.devices())}")
        # A copy of its own: memory shared with NumPy is kept in step with it, call by call.
        height = xp.asarray(elevation.height, copy=True)
        wait = height.device.wait

    timings = []
    for _ in range(arguments.repeat):
        begin = time.perf_counter()
        terrain = analyse(xp, height, elevation.width, elevation.depth)
        submitted = time.perf_counter()
        wait()
        timings.append((submitted - begin, time.perf_counter() - begin))

    place = getattr(terrain.slope, "device", "cpu")
    print(f"ran on {place} ({arguments.namespace}), median of {len(timings)} runs:")
    submission, completion = (sorted(times)[len(times) // 2] for times in zip(*timings, strict=True))
    print(f"  submitted after {1e3 * submission:.2f} ms, complete after {1e3 * completion:.2f} ms")
    print(f"  highest point {float(terrain.highest):.0f} m")
    print(f"  mean slope {math.degrees(float(terrain.mean_slope)):.1f}°")
    print(f"  steeper than {math.degrees(STEEP):.0f}°: {float(terrain.steep_share):.1%} of the ground")
    check(terrain, elevation)
    if arguments.namespace == "millpond":
        for kind, held in millpond.memory.stats().items():
            names = ("reserved", "used", "pending", "cached", "used_high")
            figures = (f"{name} {getattr(held, name) / 1e6:.1f}" for name in names)
            print(f"memory in MB, {kind}: {', '.join(figures)}")
    draw(terrain, elevation, arguments.output / "terrain.png")


if __name__ == "__main__":
    main()
