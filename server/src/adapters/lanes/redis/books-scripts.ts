import { onLanes } from './scripts.ts';

/** ARGV: where in the index to begin, and how many lanes. Returns id, whether it is written, and the counters of each, and the index's size. */
export const BOOKS = onLanes(/* lua */ `
local list = {}
for _, member in ipairs(redis.call('ZRANGE', INDEX, ARGV[1], ARGV[1] + ARGV[2] - 1)) do
  local kind, id = string.match(member, '^(%a+):(.*)$')
  local lane
  if kind == 'money' then lane = money_lane(id) elseif kind == 'quota' then lane = quota_lane(id) end
  if lane then
    local counters = kind == 'money' and text(lane.spent) or texts(lane.used)
    list[#list + 1] = {kind, id, is_written(lane.last) and '1' or '0', counters}
  end
end
return {redis.call('ZCARD', INDEX), list}
`);

/** ARGV: the lane's id, the meter of a quota (or nothing), what it counts, what it is to count. Returns 1 when it was so, and nothing of it is unwritten. */
export const CORRECT = onLanes(/* lua */ `
local id, meter = ARGV[1], ARGV[2]
local lane = meter == '' and money_lane(id) or meter ~= '' and quota_lane(id)
if not lane or not is_written(lane.last) then return 0 end
local counted = meter == '' and lane.spent or lane.used[meter] or ZERO
if text(counted) ~= ARGV[3] then return 0 end
if meter == '' then lane.spent = exact(ARGV[4]) else lane.used[meter] = exact(ARGV[4]) end
save()
return 1
`);

/** Returns how many entries are in the stream, how many holds have a lease, and how many are in doubt. */
export const COUNTS = onLanes("return {redis.call('XLEN', STREAM), redis.call('ZCARD', LEASES), redis.call('ZCARD', DOUBT)}");
