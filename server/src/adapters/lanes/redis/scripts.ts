import { EXACT_INTEGERS } from './exact-integers.lua.ts';
import { LANES } from './lanes.lua.ts';
import { defineScript } from './run-script.ts';

/** Answers with the partition's count and what the body returns. */
export const onLanes = (body: string) =>
  defineScript(`${EXACT_INTEGERS}${LANES}
local function answer() ${body} end
return {counted, answer()}
`);

/** ARGV: rate lanes. Nothing of them is written down. */
export const LEVELS = onLanes(/* lua */ `
local request = {rates = {lanes = cjson.decode(ARGV[1])}}
for _, lane in ipairs(request.rates.lanes) do drain(lane) end
return levels(request)
`);

/** ARGV: rate lanes. */
export const COUNT_REFUSED = onLanes(/* lua */ `
local request = {rates = {lanes = cjson.decode(ARGV[1])}}
for _, lane in ipairs(request.rates.lanes) do
  local there = drain(lane)
  if lane.requests and lane.requests >= 1 and there.requests + (1 - lane.requests) * PER_UNIT <= 0 then there.requests = there.requests + PER_UNIT end
end
save()
return levels(request)
`);

/** ARGV: the request, a name for this call, the gateway, what settles the hold should its process die (or nothing). */
export const HOLD = onLanes(/* lua */ `
local request = cjson.decode(ARGV[1])

local missing = missing_lanes(request)
if #missing > 0 then return {'missing', stamp_or(ARGV[2]), missing} end
if redis.call('EXISTS', hold_key(request.id)) == 1 then return {'known'} end
-- Nobody waits for the answer any more: it was on its way for longer than that.
if redis.call('EXISTS', cancelled_key(ARGV[2])) == 1 then return {'cancelled'} end

-- A few at a time: the sweep does the rest.
expire(3)
each_lane(request, function (lane) lane.touched = math.max(lane.touched, now) end)

if request.rates then
  local too_fast = false
  for _, lane in ipairs(request.rates.lanes) do
    if is_too_fast(lane, drain(lane), request.rates.draw) then too_fast = true end
  end
  if too_fast then
    save()
    return {'too fast', levels(request)}
  end
end

local function apply_cap(lane)
  local there = money_lane(lane.id)
  local cap = lane.cap and exact(lane.cap)
  if lane.rule == 'given' then there.cap = cap
  elseif lane.rule == 'tightening' and cap and not (there.cap and at_most(there.cap, cap)) then
    -- In the stream before it is asked: no loss of memory may lift it.
    there.last = redis.call('XADD', STREAM, '*', 'lane', lane.id, 'cap', lane.cap, 'at', string.format('%.0f', request.at))
    there.cap = cap
  end
end
for _, lane in ipairs(request.lanes) do apply_cap(lane) end
if request.funds then apply_cap(request.funds) end

local fixed, per_token = exact(request.fixed), exact(request.perToken)
local function cost_at(tokens) return scaled(fixed, per_token, tokens, 1000) end
local function units_at(tokens)
  local units = {}
  for meter, amount in pairs(request.units) do units[meter] = amount end
  units.tokens = (units.tokens or 0) + tokens * (request.unitsPerToken or 1)
  return units
end

local quota = request.quota and quota_lane(request.quota.id)
local funds = request.funds and money_lane(request.funds.id)
local left = quota_left(request, quota, units_at(request.wanted))

local function has_room(lane, amount)
  if request.isForDebt and amount[1] == 0 and amount[2] == 0 then return true end
  return not lane.cap or at_most(add(add(lane.spent, lane.held), amount), lane.cap)
end
-- What was weighed last: mostly it is what is taken.
local amount, covered, charge
local function fits(tokens)
  amount = cost_at(tokens)
  covered, charge = draw(units_at(tokens), left, amount)
  for _, lane in ipairs(request.lanes) do
    if not has_room(money_lane(lane.id), amount) then return false end
  end
  if charge[1] == 0 and charge[2] == 0 then return true end
  return funds ~= nil and has_room(funds, charge)
end

local tokens = request.wanted
if not fits(tokens) then
  if not fits(request.least) then
    save()
    local account = {}
    if funds then account = {text(funds.spent), text(funds.held), funds.cap and text(funds.cap) or ''} end
    return {'refused', states(request), levels(request), account, quota and texts(quota.used) or '{}', quota and texts(quota.held) or '{}'}
  end
  local low, high = request.least, request.wanted
  while low < high do
    local middle = low + math.ceil((high - low) / 2)
    if fits(middle) then low = middle else high = middle - 1 end
  end
  tokens = low
  fits(tokens)
end

local hold = {request = request, amount = amount, covered = covered, charge = charge}
count(hold, add)
each_lane(request, function (lane) lane.holds = lane.holds + 1 end)
local marks = {}
for index, lane in ipairs(request.rates and request.rates.lanes or {}) do
  local there = rate_lane(lane.id)
  there.requests = there.requests + PER_UNIT
  there.tokens = there.tokens + request.rates.draw * PER_UNIT
  there.running = there.running + 1
  marks[index] = string.format('%.0f', there.drained + there.tokens)
end
save()
redis.call('HSET', hold_key(request.id), 'request', ARGV[1], 'amount', text(hold.amount), 'charge', text(hold.charge),
  'covered', texts(hold.covered), 'marks', cjson.encode(marks), 'tokens', string.format('%.0f', tokens), 'owner', ARGV[3], 'call', ARGV[2])
if ARGV[4] ~= '' and tokens == request.wanted then redis.call('HSET', hold_key(request.id), 'inFlight', ARGV[4]) end
lease(request.id)
return {'held', states(request), levels(request), string.format('%.0f', tokens), text(hold.charge), texts(hold.covered)}
`);

/** ARGV: the hold's id, what settles it should its process die. Returns 1, or 0 where there is no such hold. */
export const BEGIN = onLanes(/* lua */ `
if redis.call('EXISTS', hold_key(ARGV[1])) == 0 then return 0 end
redis.call('HSET', hold_key(ARGV[1]), 'inFlight', ARGV[2])
return 1
`);

/** ARGV: the hold's id, a name for this call, the cost, the units, the record, tokens used (or nothing). */
export const SETTLE = onLanes(/* lua */ `
local id, call = ARGV[1], ARGV[2]
local answer_key = base .. ':answer:' .. id
local hold = read_hold(id)
if not hold then
  -- The answer to this very call may have been lost on its way.
  local answer = redis.call('GET', answer_key) or ''
  return string.sub(answer, 1, #call) == call and string.sub(answer, #call + 1)
end

local request = hold.request
local cost, use = exact(ARGV[3]), cjson.decode(ARGV[4])
each_lane(request, function (lane) if not lane then error('a lane of the hold is gone') end end)
local held = {amount = hold.amount, charge = hold.charge, units = units_of(hold)}
local covered, charge, waived = charge_within(held, use, cost, cover_of(hold, hold.covered, use))
local debt = at_most(charge, hold.charge) and ZERO or subtract(charge, hold.charge)
local entry = write_entry(charge, debt, covered, ARGV[5], given_caps(request), waived)

if request.rates and ARGV[6] ~= '' then
  local used = tonumber(ARGV[6])
  for index, lane in ipairs(request.rates.lanes) do
    local there = drain(lane)
    if used >= request.rates.draw then
      there.tokens = there.tokens + (used - request.rates.draw) * PER_UNIT
    else
      local left = tonumber(hold.marks[index]) - there.drained
      if left <= there.tokens then
        local given = math.max(0, math.min(left, (request.rates.draw - used) * PER_UNIT))
        there.tokens = there.tokens - given
        there.drained = there.drained + given
      end
    end
  end
end
spend(request, subtract(cost, waived), charge, covered, entry)
finish(id, hold)
save()
local answer = settled_answer(request, charge, debt, covered, waived)
redis.call('SET', answer_key, call .. answer, 'PX', 60000)
return answer
`);

/** ARGV: the hold's id, the part's id, the amount and units reserved for it, its cost and units, its record. */
export const SETTLE_PART = onLanes(/* lua */ `
if redis.call('EXISTS', once_key(ARGV[2])) == 1 then return 'settled_before' end
local hold = read_hold(ARGV[1])
if not hold then return 'no_hold' end
local request = hold.request
each_lane(request, function (lane) if not lane then error('a lane of the hold is gone') end end)

-- As it was taken, before any part was.
local taken = redis.call('HMGET', hold_key(ARGV[1]), 'wholeAmount', 'wholeCharge', 'wholeCovered')
local is_whole = not taken[1]
local whole = is_whole and hold or {amount = exact(taken[1]), charge = exact(taken[2]), covered = amounts(taken[3])}
local units = units_of(hold)

-- What the part has of it (see shareOf).
local reserved, reserved_units = exact(ARGV[3]), cjson.decode(ARGV[4])
local share = {request = request, amount = least(reserved, hold.amount), covered = {}, charge = ZERO}
for meter, covered in pairs(whole.covered) do
  local of = units[meter] or 0
  local like = of > 0 and scaled(ZERO, covered, math.min(reserved_units[meter] or 0, of), of) or ZERO
  share.covered[meter] = least(like, hold.covered[meter] or ZERO)
end
if whole.amount[1] > 0 or whole.amount[2] > 0 then share.charge = least(pro_rata(whole.charge, share.amount, whole.amount), hold.charge) end

local use = cjson.decode(ARGV[6])
local held = {amount = reserved, charge = add(share.charge, subtract(reserved, share.amount)), units = reserved_units}
local covered, charge, waived = charge_within(held, use, exact(ARGV[5]), cover_of(hold, share.covered, use))
local cost = subtract(exact(ARGV[5]), waived)
local beyond = at_most(cost, share.amount) and ZERO or subtract(cost, share.amount)
local charged = least(charge, add(share.charge, beyond))
local debt = at_most(charged, share.charge) and ZERO or subtract(charged, share.charge)
local entry = write_entry(charged, debt, covered, ARGV[7], given_caps(request), waived)

remember(ARGV[2], entry)
if is_whole then
  redis.call('HSET', hold_key(ARGV[1]), 'wholeAmount', text(whole.amount), 'wholeCharge', text(whole.charge), 'wholeCovered', texts(whole.covered))
end
count(share, subtract)
for meter, amount in pairs(share.covered) do hold.covered[meter] = subtract(hold.covered[meter] or ZERO, amount) end
local reserve_left = {amount = text(subtract(hold.amount, share.amount)), charge = text(subtract(hold.charge, share.charge)), covered = texts(hold.covered)}
redis.call('HSET', hold_key(ARGV[1]), 'amount', reserve_left.amount, 'charge', reserve_left.charge, 'covered', reserve_left.covered)
spend(request, cost, charged, covered, entry)
save()
return settled_answer(request, charged, debt, covered, waived, reserve_left)
`);

/** ARGV: the refund's id, its lanes as a request names them, cost, charge and cover that are given back, its record, a stamp should there be none. */
export const REFUND = onLanes(/* lua */ `
local request = cjson.decode(ARGV[2])
local missing = missing_lanes(request)
if #missing > 0 then return {'missing', stamp_or(ARGV[7]), missing} end
if redis.call('EXISTS', once_key(ARGV[1])) == 1 then return {'known'} end
local cost, charged, covered = exact(ARGV[3]), exact(ARGV[4]), amounts(ARGV[5])
local entry = write_entry(charged, ZERO, covered, ARGV[6], '')
remember(ARGV[1], entry)
local given = {}
for meter, amount in pairs(covered) do given[meter] = negative(amount) end
spend(request, negative(cost), negative(charged), given, entry)
save()
return {'refunded'}
`);

/** ARGV: the stamp that the lanes were read under, 1 where they are used from now on, the lanes, a stamp should there be none. */
export const INSTALL = onLanes(/* lua */ `
local stamp = stamp_or(ARGV[4])
if stamp ~= ARGV[1] then return stamp end
local touched = ARGV[2] == '1' and string.format('%.0f', now) or '0'
for _, lane in ipairs(cjson.decode(ARGV[3])) do
  local key = root .. ':' .. lane.kind .. ':' .. lane.id
  if redis.call('EXISTS', key) == 0 then
    redis.call('HSET', key, 'holds', 0, 'touched', touched, 'last', '', unpack(lane.fields))
    redis.call('ZADD', INDEX, touched, lane.kind .. ':' .. lane.id)
  end
end
return false
`);

/**
 * ARGV: how long a lane may be idle, a new stamp. Returns how many holds were freed, whether there may be more, the holds whose doubt is over, how
 * many lanes are left, and how many entries are in the stream.
 */
export const SWEEP = onLanes(/* lua */ `
local MOST = 100
if redis.call('EXISTS', LEASES, INDEX, DOUBT, UNWRITTEN, STREAM) == 0 then return {0, 0, {}, 0, 0} end
local idle_before = now - tonumber(ARGV[1])
local freed = expire(MOST)
save()

for _, id in ipairs(redis.call('ZRANGE', UNWRITTEN, 0, MOST - 1)) do
  local entry = redis.call('GET', once_key(id))
  if entry and not is_written(entry) then break end
  redis.call('PEXPIRE', once_key(id), ONCE_KEPT_MS)
  redis.call('ZREM', UNWRITTEN, id)
end

local function look_again(member, at) redis.call('ZADD', INDEX, string.format('%.0f', at), member) end
local idle = redis.call('ZRANGEBYSCORE', INDEX, '-inf', '(' .. string.format('%.0f', idle_before), 'LIMIT', 0, MOST)
local dropped = false
for _, member in ipairs(idle) do
  local kind, id = string.match(member, '^(%a+):(.*)$')
  local lane, touched, busy
  if kind == 'money' then lane = money_lane(id) elseif kind == 'quota' then lane = quota_lane(id) else lane = rate_lane(id) end
  if kind == 'rate' then touched, busy = lane.at, lane.running > 0
  elseif lane then touched, busy = lane.touched, lane.holds > 0 or not is_written(lane.last) end
  if not lane then redis.call('ZREM', INDEX, member)
  elseif touched >= idle_before then look_again(member, touched)
  elseif busy then look_again(member, idle_before + 60000)
  else
    redis.call('DEL', lane.key)
    redis.call('ZREM', INDEX, member)
    dropped = dropped or kind ~= 'rate'
  end
end
-- What somebody is reading from the ledger just now may be older than what was settled on the lane since.
if dropped then redis.call('SET', STAMP, ARGV[2]) end
local more = freed == MOST or #idle == MOST
local given = redis.call('ZRANGEBYSCORE', DOUBT, '-inf', string.format('%.0f', now), 'LIMIT', 0, MOST)
return {freed, more and 1 or 0, given, redis.call('ZCARD', INDEX), redis.call('XLEN', STREAM)}
`);

/** ARGV: a gateway that lives, ids of its holds. Returns those that are not its own: they are ended, or others have taken them over. */
export const RENEW = onLanes(/* lua */ `
local gateway, gone = table.remove(ARGV, 1), {}
for _, id in ipairs(ARGV) do
  if redis.call('HGET', hold_key(id), 'owner') == gateway then
    lease(id)
    redis.call('ZREM', DOUBT, id)
  else
    gone[#gone + 1] = id
  end
end
return gone
`);

/** ARGV: the lane's id, what is credited to it (empty: no cap), a new stamp, the number of credits. Whoever is reading the lane just now has to read it again. */
export const CREDIT = onLanes(/* lua */ `
local lane = money_lane(ARGV[1])
if not lane then
  redis.call('SET', STAMP, ARGV[3])
  return 0
end
-- Of two readings the one with more credits is the newer.
if tonumber(ARGV[4]) < tonumber(redis.call('HGET', lane.key, 'credits') or '0') then return 0 end
lane.cap = ARGV[2] ~= '' and exact(ARGV[2]) or nil
redis.call('HSET', lane.key, 'credits', ARGV[4])
save()
return 1
`);
