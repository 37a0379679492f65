const tracks = floats(data.tracks);  // for every frame and moving body: x, y, z, quaternion x, y, z, w
const stride = 7 * data.moving;
const geometries = data.meshes.map(geometryOf);
const bodies = [];
for (const body of data.bodies) {
  const material = new THREE.MeshLambertMaterial({ color: body.colour });
  if (body.clear) Object.assign(material, { transparent: true, opacity: 0.3, depthWrite: false });
  const mesh = new THREE.Mesh(geometries[body.mesh], material);
  mesh.name = body.name;
  scene.add(mesh);
  if (body.track !== undefined) {
    bodies.push([mesh, body.track]);
  } else {
    mesh.position.fromArray(body.pose, 0);
    mesh.quaternion.fromArray(body.pose, 3);
  }
}
if (data.grid) {
  const points = [], [low, high, left, right, height] = data.grid;
  for (let x = Math.ceil(low); x <= high; x++) points.push(x, left, height, x, right, height);
  for (let y = Math.ceil(left); y <= right; y++) points.push(low, y, height, high, y, height);
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(points, 3));
  scene.add(new THREE.LineSegments(geometry, new THREE.LineBasicMaterial({ color: 0xb9c0c7 })));
}
const fans = data.fans.map(fan => {
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(6 * fan.beams), 3));
  const material = new THREE.LineBasicMaterial({ color: fan.colour, transparent: true, opacity: 0.5 });
  const lines = new THREE.LineSegments(geometry, material);
  lines.frustumCulled = false;
  scene.add(lines);
  return { lines, beams: fan.beams, times: new Float64Array(bytes(fan.times)), points: floats(fan.points) };
});

document.querySelector("footer").insertAdjacentHTML("beforeend",
  `<label id="fans"><input id="lasers" type="checkbox" checked> lasers</label>`);
const lasers = byId("lasers");
byId("fans").hidden = fans.length === 0;
lasers.addEventListener("change", draw);

const from = new THREE.Quaternion(), to = new THREE.Quaternion();
function show(time) {
  const [frame, next, share] = around(time);
  for (const [mesh, track] of bodies) {
    const a = frame * stride + 7 * track, b = next * stride + 7 * track;
    mesh.position.set(...[0, 1, 2].map(k => (1 - share) * tracks[a + k] + share * tracks[b + k]));
    mesh.quaternion.slerpQuaternions(from.fromArray(tracks, a + 3), to.fromArray(tracks, b + 3), share);
  }
  for (const fan of fans) {
    fan.lines.visible = lasers.checked && fan.times.length > 0 && fan.times[0] <= time;
    if (!fan.lines.visible) continue;
    const start = before(fan.times, time) * 3 * (fan.beams + 1), at = fan.lines.geometry.attributes.position;
    for (let k = 0; k < fan.beams; k++) {
      at.array.set(fan.points.subarray(start, start + 3), 6 * k);
      at.array.set(fan.points.subarray(start + 3 * (k + 1), start + 3 * (k + 2)), 6 * k + 3);
    }
    at.needsUpdate = true;
  }
}
