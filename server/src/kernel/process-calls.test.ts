import { duplexPair } from 'node:stream';
import { expect, test, vi } from 'vitest';
import { Calls } from './process-calls.ts';
import { FrameReader, frameOf } from './process-frames.ts';
import { isStoreFailure } from './store-failure.ts';

type Sums = { readonly add: (a: bigint, b: bigint) => bigint | Promise<bigint>; readonly fail: () => never };

function connected(theirs: Sums, onEnd = () => {}) {
  const [here, there] = duplexPair();
  const asker = new Calls<Sums>(here, {}, onEnd);
  const server = new Calls<{ readonly name: () => string }>(there, theirs, () => {});
  return { asker, server, here, there };
}

const sums: Sums = {
  add: (a, b) => a + b,
  fail: () => {
    throw new Error('The journal is on a full disk');
  },
};

test('what is asked is answered, integers of any size included', async () => {
  const { asker } = connected(sums);
  expect(await Promise.all([asker.call('add', 1n, 2n), asker.call('add', 2n ** 70n, 1n)])).toEqual([3n, 2n ** 70n + 1n]);
});

test('both ends may ask, and offer more later', async () => {
  const { asker, server } = connected(sums);
  await expect(server.call('name')).rejects.toThrow('There is no operation name');
  asker.offer({ name: () => 'worker' });
  expect(await server.call('name')).toBe('worker');
});

test('a failure is told with its message', async () => {
  const { asker } = connected(sums);
  await expect(asker.call('fail')).rejects.toThrow('The journal is on a full disk');
});

test('a store that the other end could not reach is known as one', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const { asker } = connected({ ...sums, add: () => Promise.reject(refused) });
  const failures = [await asker.call('add', 1n, 2n).catch((error) => error), await asker.call('fail').catch((error) => error)];
  expect(failures.map(isStoreFailure)).toEqual([true, false]);
});

test('calls of one turn go in one piece and are done in their order', async () => {
  const order: bigint[] = [];
  const { asker, here } = connected({
    ...sums,
    add: (a) => {
      order.push(a);
      return a;
    },
  });
  const write = vi.spyOn(here, 'write');
  await Promise.all([1n, 2n, 3n].map((n) => asker.call('add', n, 0n)));
  expect(order).toEqual([1n, 2n, 3n]);
  expect(write).toHaveBeenCalledTimes(1);
});

test('when the other end goes, what waits fails, and so does what is asked later', async () => {
  const onEnd = vi.fn();
  const { asker, there } = connected({ ...sums, add: () => new Promise(() => {}) }, onEnd);
  const waiting = asker.call('add', 1n, 2n);
  await new Promise(setImmediate);
  there.destroy();
  await expect(waiting).rejects.toThrow('Connection is closed');
  await expect(asker.call('add', 1n, 2n)).rejects.toThrow('Connection is closed');
  expect(onEnd).toHaveBeenCalledTimes(1);
});

test('frames are put together however a stream has cut them', () => {
  const bytes = Buffer.concat([frameOf({ a: 1n }), frameOf('x'.repeat(300)), frameOf([])]);
  for (const size of [1, 3, 4, 5, 299, bytes.length]) {
    const reader = new FrameReader();
    const values: unknown[] = [];
    for (let at = 0; at < bytes.length; at += size) values.push(...reader.take(bytes.subarray(at, at + size)));
    expect(values).toEqual([{ a: 1n }, 'x'.repeat(300), []]);
  }
});
