"""Ed25519 (RFC 8032), verification alone, strict, and in no more than Python has. Slow, and enough for a verifier."""

import hashlib

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P
ROOT_OF_MINUS_ONE = pow(2, (P - 1) // 4, P)
Y_OF_ORDER_8 = 0x7A03AC9277FDC74EC6CC392CFA53202A0F67100D760B3CBA4FD84D3D706A17C7
# The y of the points whose order divides 8: such a "key" verifies one signature for nearly any message.
SMALL_ORDER_Y = {0, 1, P - 1, Y_OF_ORDER_8, P - Y_OF_ORDER_8}


def is_weak(key: bytes) -> bool:
    """A key of small order, or one whose y is not reduced: a second name for another key."""
    y = int.from_bytes(key, "little") % 2**255
    return y >= P or y in SMALL_ORDER_Y


def is_malleated(signature: bytes) -> bool:
    """S that is not below the group order: S + L satisfies the same equation as S."""
    return int.from_bytes(signature[32:], "little") >= L


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    if is_weak(key) or is_malleated(signature):
        return False
    a = _point(key)
    if a is None:
        return False
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(r + key + message).digest(), "little") % L
    minus_a = (P - a[0], a[1], 1, (P - a[0]) * a[1] % P)
    return _encoded(_add(_times(s, BASE), _times(k, minus_a))) == r


def _point(encoded: bytes):
    y = int.from_bytes(encoded, "little")
    sign, y = y >> 255, y % 2**255
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P != 0:
        x = x * ROOT_OF_MINUS_ONE % P
    if (x * x - x2) % P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = P - x
    return x, y, 1, x * y % P


def _add(p, q):
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return e * f % P, g * h % P, f * g % P, e * h % P


def _times(n: int, point):
    total = (0, 1, 1, 0)
    while n > 0:
        if n & 1:
            total = _add(total, point)
        point = _add(point, point)
        n >>= 1
    return total


def _encoded(point) -> bytes:
    inverse = pow(point[2], P - 2, P)
    x, y = point[0] * inverse % P, point[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


BASE = _point((4 * pow(5, P - 2, P) % P).to_bytes(32, "little"))
