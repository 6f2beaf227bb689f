import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isRedisMissing, testRedisProgram } from '../../../server/src/adapters/redis/test-redis.ts';
import { FAULTS, missingFor } from './faults.ts';
import { CLEAN } from './findings.ts';
import { playRound } from './round.ts';
import { isOverRedis, Service, type Topology } from './service.ts';

/** Of the 300 that `npm run faults` plays: short ones, one of each kind of store and process, always the same. */
const ROUNDS: Readonly<Partial<Record<Topology, readonly (readonly [seed: number, ...faults: string[]])[]>>> = {
  alone: [
    [7, 'gateway-kill'],
    [11, 'disk-full'],
  ],
  workers: [[17, 'worker-kill']],
  single: [
    [3, 'redis-kill'],
    [5, 'gateway-stop'],
    [9, 'redis-clock'],
    [14, 'redis-flush'],
    [12, 'postgres-stall'],
  ],
};

describe.each(Object.entries(ROUNDS))('gateways with lanes %s', (topology, rounds) => {
  describe.skipIf(process.platform !== 'linux' || (isOverRedis(topology as Topology) && isRedisMissing()))('and faults', () => {
    let service: Service;
    beforeAll(async () => {
      service = await Service.start({ topology: topology as Topology, redisProgram: testRedisProgram() });
    });
    afterAll(() => service?.stop());

    for (const [seed, ...names] of rounds) {
      const faults = FAULTS.filter(({ name }) => names.includes(name));
      test.skipIf(faults.some(missingFor))(`${names.join(' and ')}: no cap is overspent, nothing is lost, nothing stays held`, async () => {
        expect(faults).toHaveLength(names.length);
        const { findings, calls } = await playRound(service, faults, seed);
        expect(findings).toEqual(CLEAN);
        expect(calls.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
      });
    }
  });
});
