import { connect, createServer, type Socket } from 'node:net';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { listen } from './listener.ts';
import type { Listener } from './port.ts';
import { testDatabase } from './test-database.ts';

let database: Awaited<ReturnType<typeof testDatabase>>;
let client: pg.Client;
let events: string[];
let silentTicks: number[];
let listener: Listener | undefined;

beforeAll(async () => {
  database = await testDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

beforeEach(() => {
  events = [];
  silentTicks = [];
});

afterEach(() => listener?.close());

afterAll(async () => {
  await client?.end();
  await database?.drop();
});

const start = (url: string) => {
  listener = listen(url, {
    channels: ['keys', 'Odd "name"'],
    onNotify: (channel, payload) => events.push(`${channel}:${payload}`),
    onConnected: () => events.push('connected'),
    onLost: () => events.push('lost'),
    onSilent: () => {
      silentTicks.push(performance.now());
    },
    log: silentLog(),
  });
  return listener;
};
const notify = (channel: string, payload: string) => client.query('select pg_notify($1, $2)', [channel, payload]);
/** This database's alone: others of the same server are other tests'. */
const LISTENERS = `from pg_stat_activity where datname = current_database() and application_name = 'tallygate listen'`;
const cut = () => client.query(`select pg_terminate_backend(pid) ${LISTENERS}`);
const seen = (...expected: string[]) => expect.poll(() => events, { timeout: 60_000 }).toEqual(expected);

test('hears its channels, says when it lost its connection, and hears again after reconnecting', async () => {
  start(database.url);
  await seen('connected');
  await notify('keys', 'one');
  await notify('Odd "name"', 'two');
  await seen('connected', 'keys:one', 'Odd "name":two');
  await cut();
  await seen('connected', 'keys:one', 'Odd "name":two', 'lost', 'connected');
  await notify('keys', 'three');
  await seen('connected', 'keys:one', 'Odd "name":two', 'lost', 'connected', 'keys:three');
});

test('notices within two seconds a connection that died without a word', async () => {
  const sockets: Socket[] = [];
  const [target, through] = [new URL(database.url), new URL(database.url)];
  const relay = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) sockets.push(socket.on('error', () => socket.destroy()));
  }).listen(0, '127.0.0.1');
  await expect.poll(() => relay.listening).toBe(true);
  const address = relay.address();
  through.searchParams.delete('host');
  through.port = String(typeof address === 'object' ? address?.port : '');
  start(through.href);
  await seen('connected');
  for (const socket of sockets) socket.unpipe().pause();
  await expect.poll(() => events, { timeout: 60_000 }).toEqual(['connected', 'lost', 'connected']);
  await listener?.close();
  relay.close();
  for (const socket of sockets) socket.destroy();
});

test('says that a server is silent until it answers: what it said a moment before must not hide it', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await expect.poll(() => silent.listening).toBe(true);
  const address = silent.address();
  const beganTick = performance.now();
  start(`postgresql://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/nothing`);
  await expect.poll(() => silentTicks.length, { timeout: 60_000 }).toBeGreaterThan(3);
  expect(silentTicks[0]).toBeGreaterThan(beganTick + 1_400);
  silent.close();
  for (const socket of sockets) socket.destroy();
});

test('once closed it neither calls back nor connects again', async () => {
  const closed = start(database.url);
  await seen('connected');
  await closed.close();
  const listening = async () => (await client.query(`select 1 ${LISTENERS}`)).rowCount;
  await expect.poll(listening).toBe(0);
  await notify('keys', 'late');
  expect(events).toEqual(['connected']);
});
