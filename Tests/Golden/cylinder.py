"""The field on a rigid cylinder, for CapsuleTests: prints what the test holds."""
import numpy as np
from scipy.special import jv, jvp, hankel2, h2vp
a=0.05; c=343.
def p(f,d,r):
    k=2*np.pi*f/c; s=np.hypot(d[0],d[2]); x=k*a*s
    phi=np.arctan2(r[0],r[2])-np.arctan2(d[0],d[2])
    m=np.arange(0,60); eps=np.where(m==0,1,2)
    # total field on the surface, incident plus scattered: not the Wronskian's form
    t=eps*1j**m*np.cos(m*phi)*(jv(m,x)-jvp(m,x)*hankel2(m,x)/h2vp(m,x))
    t=np.where(np.isfinite(t),t,0)
    return np.exp(1j*k*d[1]*r[1])*t.sum()
r=[(0,0.02,0.05),(0.05*np.sin(2.),-0.03,0.05*np.cos(2.))]
for f in (200.,3000.,16000.):
    for d in ((0,0,1.),(0.6,0.64,0.48),(-0.8,0,-0.6)):
        print(f,d,[complex(np.round(p(f,d,x),9)) for x in r])
