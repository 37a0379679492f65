const count = data.bodies, turning = data.turning;
const absent = 2 ** data.bits - 1, half = 2 ** (data.bits - 1);
const [lowX, lowY, lowZ] = data.low, [cellX, cellY, cellZ] = data.cell;
// For every frame and body: x, y, z in cells; for every frame and body that is not round: quaternion x, y, z, w.
const cells = new (data.bits === 16 ? Uint16Array : Uint32Array)(bytes(data.positions));
const turns = new Int16Array(bytes(data.turns));
const scales = floats(data.scales);

let begin = 0;
const groups = data.groups.map(group => {
  const mesh = new THREE.InstancedMesh(geometryOf(group), new THREE.MeshLambertMaterial(), group.count);
  mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  mesh.instanceColor = new THREE.InstancedBufferAttribute(new Float32Array(3 * group.count), 3);
  mesh.frustumCulled = false;
  scene.add(mesh);
  begin += group.count;
  return { mesh, first: begin - group.count, count: group.count };
});
for (const wall of data.walls) {
  const geometry = geometryOf(wall);
  const clear = { color: wall.colour, transparent: true, opacity: 0.15, depthWrite: false };
  scene.add(new THREE.Mesh(geometry, new THREE.MeshLambertMaterial(clear)));
  if (!wall.edges) continue;
  const line = new THREE.LineBasicMaterial({ color: wall.colour });
  scene.add(new THREE.LineSegments(new THREE.EdgesGeometry(geometry, 25), line));
}

document.querySelector("footer").insertAdjacentHTML("beforeend",
  `<label>colour <select id="colour"><option value="kind">kind</option><option value="height">first height</option></select></label>`);
const colour = byId("colour");
colour.value = data.colour;
function paint() {
  const colours = new Uint8Array(bytes(data.colours[colour.value]));
  for (const { mesh, first, count } of groups) {
    for (let k = 0; k < 3 * count; k++) mesh.instanceColor.array[k] = colours[3 * first + k] / 255;
    mesh.instanceColor.needsUpdate = true;
  }
}
paint();
colour.addEventListener("change", () => { paint(); draw(); });

// Write the matrix of a body between two frames.
function place(body, frame, next, share, matrix, at) {
  const a = 3 * (frame * count + body), b = 3 * (next * count + body);
  if (cells[a] === absent) return matrix.fill(0, at, at + 16);
  const stays = cells[b] === absent || Math.abs(cells[b] - cells[a]) > half ||
    Math.abs(cells[b + 1] - cells[a + 1]) > half || Math.abs(cells[b + 2] - cells[a + 2]) > half;
  const s = stays ? 0 : share, r = 1 - s;
  let x = 0, y = 0, z = 0, w = 1;
  if (body < turning) {
    const p = 4 * (frame * turning + body), q = stays ? p : 4 * (next * turning + body);
    x = r * turns[p] + s * turns[q];
    y = r * turns[p + 1] + s * turns[q + 1];
    z = r * turns[p + 2] + s * turns[q + 2];
    w = r * turns[p + 3] + s * turns[q + 3];
    const length = Math.hypot(x, y, z, w);
    x /= length; y /= length; z /= length; w /= length;
  }
  const sx = scales[3 * body], sy = scales[3 * body + 1], sz = scales[3 * body + 2];
  matrix[at] = sx * (1 - 2 * (y * y + z * z));
  matrix[at + 1] = sx * 2 * (x * y + z * w);
  matrix[at + 2] = sx * 2 * (x * z - y * w);
  matrix[at + 4] = sy * 2 * (x * y - z * w);
  matrix[at + 5] = sy * (1 - 2 * (x * x + z * z));
  matrix[at + 6] = sy * 2 * (y * z + x * w);
  matrix[at + 8] = sz * 2 * (x * z + y * w);
  matrix[at + 9] = sz * 2 * (y * z - x * w);
  matrix[at + 10] = sz * (1 - 2 * (x * x + y * y));
  matrix[at + 12] = lowX + cellX * (r * cells[a] + s * cells[b]);
  matrix[at + 13] = lowY + cellY * (r * cells[a + 1] + s * cells[b + 1]);
  matrix[at + 14] = lowZ + cellZ * (r * cells[a + 2] + s * cells[b + 2]);
  matrix[at + 15] = 1;
}

let shown = NaN;
function show(time) {
  if (time === shown) return;
  shown = time;
  const [frame, next, share] = around(time);
  for (const { mesh, first, count } of groups) {
    for (let k = 0; k < count; k++) place(first + k, frame, next, share, mesh.instanceMatrix.array, 16 * k);
    mesh.instanceMatrix.needsUpdate = true;
  }
}
