import { defineScript } from './run-script.ts';
import { onLanes } from './scripts.ts';

/** ARGV: the epoch that the partition is of from now on. Whatever is asked of it under another one is refused. */
export const OPEN = defineScript(/* lua */ `
local MARK = KEYS[1] .. ':epoch'
redis.call('DEL', MARK)
redis.call('HSET', MARK, 'epoch', ARGV[1], 'master', string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or '', 'count', 0)
return false
`);

/** Fails where the partition is not what it was. */
export const CHECK = onLanes('return false');

/** ARGV: a gateway, the id of a hold that it has. Returns 1 where the lanes have it: it is that gateway's from now on. */
export const ADOPT = onLanes(/* lua */ `
if redis.call('EXISTS', hold_key(ARGV[2])) == 0 then return 0 end
redis.call('HSET', hold_key(ARGV[2]), 'owner', ARGV[1])
redis.call('HDEL', hold_key(ARGV[2]), 'former')
redis.call('ZREM', DOUBT, ARGV[2])
lease(ARGV[2])
return 1
`);

/** ARGV: an older epoch. Returns what the partition has of holds that do not end with their process: id, fields and values of each. */
export const LEFT = defineScript(/* lua */ `
local root = KEYS[1] .. ':' .. ARGV[1]
local list = {}
for _, index in ipairs({':leases', ':doubt'}) do
  for _, id in ipairs(redis.call('ZRANGE', root .. index, 0, -1)) do
    local hold = redis.call('HGETALL', root .. ':hold:' .. id)
    if #hold > 0 then list[#list + 1] = {id, hold} end
  end
end
return list
`);

/**
 * ARGV: who it belongs to, or nothing: then it is in doubt; the request, amount, charge and cover that are left of it, its tokens, what settles it
 * should its process die (or nothing), JSON of what was held before any part was settled (or nothing), whose it was where it is in doubt (or nothing),
 * a stamp should there be none. Puts a hold on lanes that do not know it, whatever their caps.
 */
export const DECLARE = onLanes(/* lua */ `
local owner, request = ARGV[1], cjson.decode(ARGV[2])
local id = request.id
local function keep()
  if owner ~= '' then
    redis.call('HSET', hold_key(id), 'owner', owner)
    redis.call('HDEL', hold_key(id), 'former')
    redis.call('ZREM', DOUBT, id)
    lease(id)
  else
    redis.call('HSET', hold_key(id), 'former', ARGV[9])
    redis.call('ZADD', DOUBT, string.format('%.0f', math.max(now + DOUBT_MS, request.keptUntil or 0)), id)
  end
end
if redis.call('EXISTS', hold_key(id)) == 1 then
  if owner ~= '' then keep() end
  return {'known'}
end
local missing = missing_lanes(request)
if #missing > 0 then return {'missing', stamp_or(ARGV[10]), missing} end

local hold = {request = request, amount = exact(ARGV[3]), charge = exact(ARGV[4]), covered = amounts(ARGV[5])}
count(hold, add)
each_lane(request, function (lane)
  lane.holds = lane.holds + 1
  lane.touched = math.max(lane.touched, now)
end)
local marks = {}
for index, lane in ipairs(request.rates and request.rates.lanes or {}) do
  drain(lane).running = rate_lane(lane.id).running + 1
  marks[index] = '0'
end
save()
redis.call('HSET', hold_key(id), 'request', ARGV[2], 'amount', ARGV[3], 'charge', ARGV[4], 'covered', ARGV[5], 'marks', cjson.encode(marks),
  'tokens', ARGV[6])
if ARGV[7] ~= '' then redis.call('HSET', hold_key(id), 'inFlight', ARGV[7]) end
if ARGV[8] ~= '' then
  local whole = cjson.decode(ARGV[8])
  redis.call('HSET', hold_key(id), 'wholeAmount', whole.amount, 'wholeCharge', whole.charge, 'wholeCovered', whole.covered)
end
keep()
return {'declared'}
`);
