"""Goldens of rigid boxes from bempp-cl, a published boundary element library: BoxManifoldTests.

usage: python bempp.py bempp.json [phone|cube|tablet ...]        (about 20 min on two cores; progress on standard error)

Needs bempp-cl 0.4, gmsh and numpy. Nothing in here comes from Pinna: Galerkin's method on triangles with linear shape
functions, where Pinna has collocation on rectangles with constant ones. Triangles are narrower at the edges of a box. The
cube, whose interior resonates from 5 kHz on, is solved with the formulation of Burton and Miller, where Pinna has CHIEF
points. The pressure at a microphone comes from the representation formula. Each box is solved on a coarser mesh, too:
`change` is the difference between the two in dB.
"""
import json, sys, tempfile, time
import numpy as np, gmsh
import bempp_cl.api as bempp
bempp.enable_console_logging('error')
bempp.GLOBAL_PARAMETERS.quadrature.regular = 4
bempp.GLOBAL_PARAMETERS.quadrature.singular = 5
C = 343.

def sphere(n):
    i = np.arange(n) + .5; z = 1 - 2 * i / n; p = np.pi * (1 + 5**.5) * i; r = np.sqrt(1 - z * z)
    return np.c_[r * np.cos(p), r * np.sin(p), z]
directions = np.vstack([np.eye(3), -np.eye(3), sphere(14)])

def mesh(size, width, edge):
    gmsh.initialize(); gmsh.option.setNumber('General.Terminal', 0)
    s = np.array(size)
    gmsh.model.occ.addBox(*(-s / 2), *s); gmsh.model.occ.synchronize()
    field = gmsh.model.mesh.field
    field.add('Distance', 1); field.setNumbers(1, 'CurvesList', [t for _, t in gmsh.model.getEntities(1)])
    field.setNumber(1, 'Sampling', 200)
    field.add('Threshold', 2); field.setNumber(2, 'InField', 1)
    for key, value in dict(SizeMin=edge, SizeMax=width, DistMin=0, DistMax=4 * width).items():
        field.setNumber(2, key, value)
    field.setAsBackgroundMesh(2)
    for key in ('MeshSizeExtendFromBoundary', 'MeshSizeFromPoints', 'MeshSizeFromCurvature'):
        gmsh.option.setNumber('Mesh.' + key, 0)
    gmsh.model.mesh.generate(2)
    gmsh.option.setNumber('Mesh.MshFileVersion', 2.2)
    with tempfile.NamedTemporaryFile(suffix='.msh') as file:
        gmsh.write(file.name); gmsh.finalize()
        return bempp.import_grid(file.name)

def dense(operator):
    return bempp.as_matrix(operator.weak_form()) if hasattr(bempp, 'as_matrix') else operator.weak_form().to_dense()

def solve(size, width, edge, mics, frequency, resonates):
    """[microphone][direction], relative to the free field at the origin, for e^(+jωt)"""
    grid = mesh(size, width, edge)
    space = bempp.function_space(grid, 'P', 1)
    k = 2 * np.pi * frequency / C
    o = bempp.operators.boundary
    identity = o.sparse.identity(space, space, space)
    started = time.time()
    A = .5 * identity.weak_form().to_sparse() - dense(o.helmholtz.double_layer(space, space, space, k))
    A = np.asarray(A)
    eta = 1j / k
    if resonates: A += eta * dense(o.helmholtz.hypersingular(space, space, space, k))
    # Projections of the incident wave by a quadrature of degree 6 on each triangle.
    V, E = grid.vertices, grid.elements
    a = np.array([[.063089014491502, .873821971016996], [.249286745170910, .501426509658179]])
    bary, weights = [], []
    for (p, q), w in zip(a, (.050844906370207, .116786275726379)):
        for i in range(3): b = [p] * 3; b[i] = q; bary.append(b); weights.append(w)
    p, q = .310352451033785, .053145049844816; r = 1 - p - q
    for b in ((p, q, r), (q, r, p), (r, p, q), (q, p, r), (p, r, q), (r, q, p)): bary.append(b); weights.append(.082851075618374)
    bary, weights = np.array(bary), np.array(weights)
    corners = V[:, E]                                         # xyz, corner, element
    points = np.einsum('xce,qc->eqx', corners, bary)
    normals = np.cross((corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T)
    area = np.linalg.norm(normals, axis=1) / 2; normals /= 2 * area[:, None]
    right = np.zeros((A.shape[0], len(directions)), complex)
    for d, u in enumerate(directions):
        wave = np.exp(-1j * k * points @ u)
        if resonates: wave = wave * (1 + eta * (-1j * k) * (normals @ u))[:, None]
        local = np.einsum('eq,qc,q,e->ec', wave, bary, weights, area)
        np.add.at(right[:, d], space.local2global, local)
    solution = np.linalg.solve(A, right); del A
    # p(m) = 2 (p_in + D p), on the surface; triangles in the microphone's plane contribute nothing.
    result = np.zeros((len(mics), len(directions)), complex)
    values = np.einsum('ecd,qc->eqd', solution[space.local2global], bary)
    for m, at in enumerate(mics):
        offset = at - points                                  # e, q, x
        distance = np.linalg.norm(offset, axis=2)
        away = np.einsum('eqx,ex->eq', offset, normals)
        away[np.abs(away) < 1e-9] = 0
        kernel = np.exp(1j * k * distance) * (1 - 1j * k * distance) * away / (4 * np.pi * distance**3)
        total = np.einsum('eq,q,e,eqd->d', kernel, weights, area, values, optimize=True)
        result[m] = 2 * (np.exp(-1j * k * directions @ at) + total)
    print(f'{size} {frequency} Hz, {width*1e3:.2f} mm: {grid.number_of_elements} triangles, {time.time()-started:.0f} s', file=sys.stderr, flush=True)
    return np.conj(result)

def golden(name, size, width, edge, mics, frequencies, resonates=False):
    mics = np.array(mics) * 1e-3
    values, change = [], []
    for f in frequencies:
        # 5.5 triangles per wavelength: `change` is the measure of that.
        fine = max(width, min(C / f / 5.5, 8e-3)); ratio = fine / width
        found = solve(size, fine, edge * ratio, mics, f, resonates)
        coarse = solve(size, 1.4 * fine, 1.4 * edge * ratio, mics, f, resonates)
        change.append(round(10 * np.log10((abs(found - coarse)**2).sum() / (abs(found)**2).sum()), 1))
        print(name, f, 'change', change[-1], file=sys.stderr, flush=True)
        values.append(found)
    V = np.round(np.array(values), 5)
    return dict(name=name, size=size, microphones=np.round(mics, 9).tolist(), frequencies=frequencies, change=change,
                directions=np.round(directions, 9).tolist(), real=V.real.tolist(), imaginary=V.imag.tolist())

if __name__ == '__main__':
    out, which = sys.argv[1], sys.argv[2:] or ['phone', 'cube', 'tablet']
    boxes = dict(
        phone=lambda: golden('phone', [.072, .147, .008], .003, .0009,
            [(-25, -73.5, 0), (25, -73.5, 0), (0, 65, 4), (0, 65, -4), (24, 62, -4), (0, 73.5, 0), (-36, 0, 0)],
            [4000., 8000., 16000.]),
        cube=lambda: golden('cube', [.06, .06, .06], .0028, .0012, [(10, 5, 30), (-30, 20, 0), (3, 29, -30)],
            [4000., 8000., 16000.], resonates=True),
        tablet=lambda: golden('tablet', [.24, .17, .007], .0055, .0016, [(-120, 40, 0), (10, 80, 3.5), (-10, 80, -3.5), (0, -85, 0)],
            [6000.]))
    json.dump([boxes[name]() for name in which], open(out, 'w'), separators=(',', ':'))
