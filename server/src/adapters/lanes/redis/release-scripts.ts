import { onLanes } from './scripts.ts';

/** ARGV: the hold's id, the gateway that it has to belong to (or nothing): another may have taken a hold of that name since. */
export const RELEASE = onLanes(/* lua */ `
local hold = read_hold(ARGV[1])
if not hold then return false end
if ARGV[2] ~= '' then
  local owner, former = unpack(redis.call('HMGET', hold_key(ARGV[1]), 'owner', 'former'))
  if owner ~= ARGV[2] and former ~= ARGV[2] then return false end
end
finish(ARGV[1], hold)
save()
return false
`);

/** ARGV: of each call whose answer nobody waits for, its hold's id and its name. It holds nothing, also where it comes only now. */
export const CANCEL = onLanes(/* lua */ `
for index = 1, #ARGV, 2 do
  local id, call = ARGV[index], ARGV[index + 1]
  redis.call('SET', cancelled_key(call), '', 'PX', CANCELLED_KEPT_MS)
  if redis.call('HGET', hold_key(id), 'call') == call then finish(id, read_hold(id)) end
end
save()
return false
`);
