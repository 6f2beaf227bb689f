import { defineScript } from './run-script.ts';

/** ARGV: who wants to be the writer of the ledger, for how many milliseconds, and 1 where another one is not asked. Returns 1 when they are. */
export const LEAD = defineScript(/* lua */ `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and ARGV[3] ~= '1' then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
`);

/** ARGV: who was the writer. */
export const STEP_DOWN = defineScript(/* lua */ `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return false
`);
