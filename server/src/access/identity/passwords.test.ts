import { expect, test, vi } from 'vitest';
import { argon2id, createPasswords } from './passwords.ts';

const passwords = createPasswords();

test('a hash is an argon2id PHC string at OWASP’s cost, and opens with its password only', async () => {
  const phc = await passwords.hash('correct horse battery');
  expect(phc).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/);
  expect(await passwords.verify('correct horse battery', phc)).toBe(true);
  expect(await passwords.verify('correct horse batterz', phc)).toBe(false);
});

test('a password typed in another Unicode form is the same password', async () => {
  expect(await passwords.verify('caf\u00e9 au lait', await passwords.hash('cafe\u0301 au lait'))).toBe(true);
});

test('does the same work for nobody as for a wrong password', async () => {
  const derive = vi.fn(argon2id);
  const counting = createPasswords({ derive });
  expect(await counting.verify('guess', undefined)).toBe(false);
  expect(await counting.verify('guess', await passwords.hash('right'))).toBe(false);
  const [nobody, wrong] = derive.mock.calls.map(([, salt, cost]) => ({ saltBytes: salt.length, cost }));
  expect(nobody).toEqual(wrong);
});

test('runs no more derivations at once than allowed, and refuses when too many wait', async () => {
  let running = 0;
  let most = 0;
  const gate = Promise.withResolvers<void>();
  const derive = async () => {
    most = Math.max(most, ++running);
    await gate.promise;
    running--;
    return Buffer.alloc(32);
  };
  const limited = createPasswords({ concurrency: 2, derive });
  const waiting = Array.from({ length: 66 }, () => limited.verify('x', undefined));
  await expect(limited.verify('x', undefined)).rejects.toMatchObject({ code: 'rate_limited', extras: { retryAfterSeconds: 1 } });
  gate.resolve();
  await Promise.all(waiting);
  expect(most).toBe(2);
});
