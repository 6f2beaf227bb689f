import { onLanes } from './scripts.ts';

/**
 * ARGV: a name, the hold should there be one, its lanes as a request names them, cost, charge, debt and cover of what is settled late, its record, a stamp should there
 * be none, its caps, and what was waived of it before. Settles as much of it as every lane has room for; the rest is waived, and part of no lane. Returns charge, debt and what is waived.
 */
export const SETTLE_LATE = onLanes(/* lua */ `
local request = cjson.decode(ARGV[3])
local missing = missing_lanes(request)
if #missing > 0 then return {'missing', stamp_or(ARGV[9]), missing} end
if redis.call('EXISTS', once_key(ARGV[1])) == 1 then return {'known'} end
-- Found in an older state of Redis: it is in doubt, and settled by this.
local hold = read_hold(ARGV[2])
if hold then finish(ARGV[2], hold) end
local function room(lane, most)
  local there = money_lane(lane.id)
  local cap = there.cap or lane.cap and exact(lane.cap)
  if not cap then return most end
  local used = add(there.spent, there.held)
  return at_most(cap, used) and ZERO or least(most, subtract(cap, used))
end

local cost, charge, covered = exact(ARGV[4]), exact(ARGV[5]), amounts(ARGV[7])
local fitting, paid = cost, charge
for _, lane in ipairs(request.lanes) do fitting = room(lane, fitting) end
if not at_most(cost, fitting) then paid = least(charge, pro_rata(charge, fitting, cost)) end
if request.funds then
  local payable = room(request.funds, paid)
  fitting = subtract(fitting, subtract(paid, payable))
  paid = payable
end
local debt, waived = least(exact(ARGV[6]), paid), subtract(cost, fitting)
waived = add(waived, exact(ARGV[11]))
local entry = write_entry(paid, debt, covered, ARGV[8], ARGV[10], waived)
remember(ARGV[1], entry)
spend(request, fitting, paid, covered, entry)
save()
return {'settled', text(paid), text(debt), text(waived)}
`);
