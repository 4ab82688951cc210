"""Both ears' weights of each bin by one cost, minimised with L-BFGS: what `DesignParameters.Joint` says, in numpy.

Shapes: V `[frequency][direction][microphone]`, T `[frequency][direction][ear]` for the unit vectors u of the head frame; A and
TA the same straight ahead and straight behind; W0 `[frequency][microphone][ear]`, least squares. Nothing in here comes from
Pinna.
"""
import numpy as np
from scipy.optimize import minimize


def cubed(edge):
    """The directions of the designs, whose places are not what is compared: 6·edge² equal areas (Roșca and Plonka, 2011)."""
    places = (2 * np.arange(edge) + 1) / edge - 1
    x, y = [p.ravel() for p in np.meshgrid(places, places, indexing='ij')]
    wide = np.abs(x) >= np.abs(y)
    a, b = np.where(wide, x, y), np.where(wide, y, x)
    q = b * np.pi / (12 * np.where(a == 0, 1, a))
    r = 2**.25 * a / np.sqrt(np.sqrt(2) - np.cos(q))
    along, across = r * (np.sqrt(2) * np.cos(q) - 1), r * np.sqrt(2) * np.sin(q)
    s = along**2 + across**2
    top = np.c_[np.where(wide, along, across), np.where(wide, across, along)] * np.sqrt(1 - s / 4)[:, None]
    top = np.c_[top, 1 - s / 2]
    return np.concatenate([sign * np.roll(top, axis, 1) for axis in range(3) for sign in (1, -1)])


def sectors(u):
    """Weights of the directions in each sector, and what sectors count below and above 1.5 kHz."""
    ring = lambda n, e: [[np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)] for a in 2 * np.pi * np.arange(n) / n]
    up = np.deg2rad(40)
    centres = np.array(ring(36, 0) + ring(6, up) + ring(6, -up) + [[0, 0, 1], [0, 0, -1], [0, 0, 0]])
    kappa = np.r_[np.full(36, 120.), np.full(15, 25.)]
    K = np.exp(kappa[:, None] * (centres @ u.T - (centres**2).sum(1)[:, None]))
    base = np.r_[np.full(36, .5), np.full(14, .4), 3]
    x = centres[:36, 0]
    near, rear = np.cos(np.deg2rad(25)), np.cos(np.deg2rad(150)) + 1e-9
    def importance(side):
        q = base.copy()
        q[:36] *= np.where(x > near, 5, np.where(np.abs(centres[:36, 1]) > near, side, np.where(x < rear, 3, 1)))
        return q / q.sum()
    return K / K.sum(1, keepdims=True), importance(1), importance(2)


def joint(F, V, A, T, TA, u, W0, highest=20000., limit=10.):
    K, low, high = sectors(u)
    M = V.shape[2]
    W = W0.copy()
    for k in range(1, len(F)):
        if F[k] > highest:
            W[k] = W[k - 1]
            continue
        q = low if F[k] < 1500 else high
        v, t = V[k], T[k]
        R = np.einsum('sd,dm,dn->smn', K, v.conj(), v, optimize=True)
        R = R + .005 * np.einsum('smm->sm', R)[:, :, None] * np.eye(M)
        D = v.conj().T @ v / len(v)
        mean = (np.abs(t)**2).mean()
        e0 = .01 * mean
        E = K @ np.abs(t)**2 + e0
        wanted = K @ (t[:, 0] * t[:, 1].conj()) / np.sqrt(E[:, 0] * E[:, 1])
        axis = (np.abs(TA[k])**2).sum(1) + 2 * e0
        gamma = min(max(60 * (1500 / F[k])**4, .3), 60)
        ahead = 12 * min(1, 1500 / F[k])
        weak = 5 * np.clip((3000 - F[k]) / 1500, 0, 1) / mean
        b = v.conj().T @ t / len(v)
        before = W[k - 1] if k > 1 else None

        def cost(x):
            w = x.view(complex).reshape(M, 2)
            Rw = np.einsum('smn,ne->sme', R, w)
            P = np.einsum('me,sme->se', w.conj(), Rw).real + e0
            d = np.log(P / E)
            i = d[:, 0] - d[:, 1]
            J = 10 * (q[:, None] * d**2).sum() + 40 * (q * i**2).sum()
            s = q[:, None] * (20 * d + 80 * np.c_[i, -i])
            X = np.einsum('m,sm->s', w[:, 1].conj(), Rw[:, :, 0])
            root = np.sqrt(P[:, 0] * P[:, 1])
            e = X / root - wanted
            J += gamma * (q * np.abs(e)**2).sum()
            s -= (gamma * q * (e.conj() * X / root).real)[:, None]
            g = np.einsum('se,sme->me', s / P, Rw)
            f = gamma * q / root
            g[:, 1] += np.einsum('s,sm->m', f * e.conj(), Rw[:, :, 0])
            g[:, 0] += np.einsum('s,sm->m', f * e, Rw[:, :, 1])
            y = A[k] @ w
            p = (np.abs(y)**2).sum(1) + 2 * e0
            ratio = np.log(p[0] / p[1] * axis[1] / axis[0])
            J += ahead * ratio**2
            g += 2 * ahead * ratio * (np.outer(A[k, 0].conj(), y[0]) / p[0] - np.outer(A[k, 1].conj(), y[1]) / p[1])
            Dw = D @ w
            signal = np.einsum('me,me->e', w.conj(), Dw).real + 1e-12
            noise = (np.abs(w)**2).sum(0)
            excess = np.maximum(np.log(noise / signal) - limit / 10 * np.log(10), 0)
            J += 50 * (excess**2).sum()
            g += 100 * excess * (w / noise - Dw / signal)
            if weak:
                J += weak * (w.conj() * (Dw - 2 * b)).sum().real
                g += weak * (Dw - b)
            if before is not None:
                scale = .3 / (np.abs(before)**2).sum()
                J += scale * (np.abs(w - before)**2).sum()
                g += scale * (w - before)
            return J, np.ascontiguousarray(2 * g).view(float).ravel()

        best = None
        for start in ([before] if k > 1 else []) + ([W0[k]] if F[k] < 1800 else []):
            r = minimize(cost, np.ascontiguousarray(start).view(float).ravel(), jac=True, method='L-BFGS-B',
                         options=dict(maxiter=3000, maxfun=6000, maxcor=20, ftol=1e-13, gtol=1e-9))
            if best is None or r.fun < best.fun: best = r
        W[k] = best.x.view(complex).reshape(M, 2)
    W[0] = W[1]
    return W
