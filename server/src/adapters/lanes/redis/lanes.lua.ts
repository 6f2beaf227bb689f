/**
 * What the scripts on lanes share. They take three arguments before their own: the time of a test or nothing, the epoch, and the count that was
 * seen of the partition. `KEYS[1]` is the name that all keys of a partition begin with, so that they lie in one slot of a cluster. A lane
 * is read once and written back by `save`; a script that fails before its first write has changed nothing.
 */
export const LANES = /* lua */ `
local base = KEYS[1]
local MARK, STREAM, UNWRITTEN = base .. ':epoch', base .. ':settled', base .. ':unwritten'
local LEASE_MS, DOUBT_MS, ONCE_KEPT_MS, CANCELLED_KEPT_MS = 30000, 600000, 3600000, 1800000

-- The first argument is the time of a test, epoch milliseconds, or nothing: then it is Redis's own, whatever the clocks of its callers say.
local now = tonumber(table.remove(ARGV, 1))
if not now then
  local time = redis.call('TIME')
  now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
end

-- Under which epoch the caller knows the partition, and how far it has counted there. A partition that is of another epoch, on a server that
-- was not its master then, or that has counted less, is not what it was: nothing is asked of it.
local epoch, seen = table.remove(ARGV, 1), tonumber(table.remove(ARGV, 1))
local mark = redis.call('HMGET', MARK, 'epoch', 'master', 'count')
if mark[1] ~= epoch then return redis.error_reply('EPOCH the partition is of ' .. (mark[1] or 'none')) end
if mark[2] ~= (string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or '') then return redis.error_reply('EPOCH another server is the master') end
if tonumber(mark[3]) < seen then return redis.error_reply('EPOCH writes are lost') end
local counted = redis.call('HINCRBY', MARK, 'count', 1)

-- All that can be made again from the ledger, and is with every epoch.
local root = base .. ':' .. epoch
local STAMP, LEASES, INDEX, DOUBT = root .. ':stamp', root .. ':leases', root .. ':index', root .. ':doubt'

local money, quotas, rates = {}, {}, {}

local function hold_key(id) return root .. ':hold:' .. id end
local function cancelled_key(call) return root .. ':cancelled:' .. call end
local function once_key(id) return base .. ':once:' .. id end

local function money_lane(id)
  if money[id] then return money[id] end
  local key = root .. ':money:' .. id
  local read = redis.call('HMGET', key, 'spent', 'held', 'cap', 'holds', 'touched', 'last')
  if not read[1] then return nil end
  local cap
  if read[3] ~= '' then cap = exact(read[3]) end
  money[id] = {key = key, spent = exact(read[1]), held = exact(read[2]), cap = cap, holds = tonumber(read[4]), touched = tonumber(read[5]), last = read[6]}
  return money[id]
end

local function quota_lane(id)
  if quotas[id] then return quotas[id] end
  local key = root .. ':quota:' .. id
  local read = redis.call('HGETALL', key)
  if #read == 0 then return nil end
  local lane = {key = key, used = {}, held = {}, holds = 0, touched = 0, last = ''}
  for index = 1, #read, 2 do
    local field, value = read[index], read[index + 1]
    if field == 'holds' or field == 'touched' then lane[field] = tonumber(value)
    elseif field == 'last' then lane.last = value
    else lane[string.sub(field, 1, 4)][string.sub(field, 6)] = exact(value) end
  end
  quotas[id] = lane
  return lane
end

local function rate_lane(id)
  if rates[id] then return rates[id] end
  local key = root .. ':rate:' .. id
  local read = redis.call('HMGET', key, 'at', 'requests', 'tokens', 'drained', 'running')
  local function number(index) return tonumber(read[index] or '0') end
  rates[id] = {key = key, id = id, is_new = not read[1], at = number(1), requests = number(2), tokens = number(3), drained = number(4), running = number(5)}
  return rates[id]
end

local function missing_lanes(request)
  local missing = {}
  for _, lane in ipairs(request.lanes) do if not money_lane(lane.id) then missing[#missing + 1] = lane.id end end
  if request.funds and not money_lane(request.funds.id) then missing[#missing + 1] = request.funds.id end
  if request.quota and not quota_lane(request.quota.id) then missing[#missing + 1] = request.quota.id end
  return missing
end

-- What changes whenever a lane is dropped or credited: whoever reads lanes from the ledger meanwhile reads them again.
local function stamp_or(new)
  redis.call('SET', STAMP, new, 'NX')
  return redis.call('GET', STAMP)
end

local function save()
  for _, lane in pairs(money) do
    redis.call('HSET', lane.key, 'spent', text(lane.spent), 'held', text(lane.held), 'cap', lane.cap and text(lane.cap) or '',
      'holds', lane.holds, 'touched', lane.touched, 'last', lane.last)
  end
  for _, lane in pairs(quotas) do
    local fields = {'holds', lane.holds, 'touched', lane.touched, 'last', lane.last}
    for _, kind in ipairs({'used', 'held'}) do
      for meter, amount in pairs(lane[kind]) do
        fields[#fields + 1] = kind .. ':' .. meter
        fields[#fields + 1] = text(amount)
      end
    end
    redis.call('HSET', lane.key, unpack(fields))
  end
  for _, lane in pairs(rates) do
    redis.call('HSET', lane.key, 'at', string.format('%.0f', lane.at), 'requests', lane.requests, 'tokens', lane.tokens, 'drained', lane.drained, 'running', lane.running)
    if lane.is_new then redis.call('ZADD', INDEX, lane.at, 'rate:' .. lane.id) end
  end
end

-- What is left of a quota, of the meters in use that the plan names; nil without a quota.
local function quota_left(request, lane, use)
  if not lane then return nil end
  local left = {}
  for meter in pairs(use) do
    local cap = request.quota.caps[meter]
    if cap then left[meter] = subtract(subtract(exact(cap), lane.used[meter] or ZERO), lane.held[meter] or ZERO) end
  end
  return left
end

-- What the quota covers of a use, and what is left to pay: the scarcest meter decides (see drawOnQuota).
local function draw(use, left, cost)
  if not left then return {}, cost end
  local part, whole = 1, 1
  for meter, amount in pairs(use) do
    if amount > 0 then
      local available = 0
      local there = left[meter]
      if there and at_most({0, amount}, there) then available = amount
      elseif there and there[1] >= 0 then available = there[2] end
      local is_scarcer
      if available == amount then is_scarcer = false
      elseif part * amount < SMALL and available * whole < SMALL then is_scarcer = available * whole < part * amount
      else is_scarcer = not at_most(product(part, amount), product(available, whole)) end
      if is_scarcer then part, whole = available, amount end
    end
  end
  local covered = {}
  for meter, amount in pairs(use) do
    if amount > 0 then covered[meter] = part == whole and {0, amount} or scaled(ZERO, {0, amount}, part, whole) end
  end
  if part == whole then return covered, ZERO end
  if part == 0 then return covered, cost end
  return covered, scaled(ZERO, cost, whole - part, whole)
end

local function texts(amounts)
  local written = {}
  for meter, amount in pairs(amounts) do written[meter] = text(amount) end
  return cjson.encode(written)
end

local function amounts(written)
  local read = cjson.decode(written)
  for meter, amount in pairs(read) do read[meter] = exact(amount) end
  return read
end

-- Puts a hold's amounts on its lanes, or takes them off.
local function count(hold, change)
  for _, lane in ipairs(hold.request.lanes) do
    local there = money_lane(lane.id)
    if there then there.held = change(there.held, hold.amount) end
  end
  local funds = hold.request.funds and money_lane(hold.request.funds.id)
  if funds then funds.held = change(funds.held, hold.charge) end
  local quota = hold.request.quota and quota_lane(hold.request.quota.id)
  if quota then
    for meter, amount in pairs(hold.covered) do quota.held[meter] = change(quota.held[meter] or ZERO, amount) end
  end
end

-- Calls back with each lane of money or quota that the request passes, as often as it is named.
local function each_lane(request, callback)
  for _, lane in ipairs(request.lanes) do callback(money_lane(lane.id)) end
  if request.funds then callback(money_lane(request.funds.id)) end
  if request.quota then callback(quota_lane(request.quota.id)) end
end

local function read_hold(id)
  -- Amount, charge and cover are what its parts have left of it.
  local read = redis.call('HMGET', hold_key(id), 'request', 'amount', 'charge', 'covered', 'marks', 'tokens')
  if not read[1] then return nil end
  return {request = cjson.decode(read[1]), amount = exact(read[2]), charge = exact(read[3]), covered = amounts(read[4]),
    marks = cjson.decode(read[5]), tokens = tonumber(read[6])}
end

-- What it was taken for.
local function units_of(hold)
  local units = {}
  for meter, amount in pairs(hold.request.units) do units[meter] = amount end
  units.tokens = (units.tokens or 0) + hold.tokens * (hold.request.unitsPerToken or 1)
  return units
end

-- What the quota gives a use at its settlement: what was reserved, and what others have left since.
local function cover_of(hold, reserve, use)
  local quota = hold.request.quota and quota_lane(hold.request.quota.id)
  local cover = quota_left(hold.request, quota, use)
  for meter, free in pairs(cover or {}) do
    local reserved = reserve[meter] or ZERO
    if free[1] < 0 then cover[meter] = reserved
    else cover[meter] = add(free, reserved) end
  end
  return cover
end

-- What an account pays of a use: never more than was held for it (see chargeWithin). Returns cover, charge, and what is waived of the cost.
local function charge_within(held, use, cost, cover)
  if at_most(cost, held.amount) then
    local covered, charge = draw(use, cover, cost)
    return covered, charge, ZERO
  end
  for meter, units in pairs(cover or {}) do cover[meter] = least(units, {0, held.units[meter] or 0}) end
  local covered, charge = draw(use, cover, held.amount)
  return covered, least(charge, held.charge), subtract(cost, held.amount)
end

-- What was used takes the place of what was held. The record comes first: if it cannot be written, nothing has happened.
-- JSON: the caps of a request that no source of lanes has.
local function given_caps(request)
  local caps = {}
  for _, lane in ipairs(request.lanes) do if lane.rule == 'given' then caps[lane.id] = lane.cap end end
  if request.funds and request.funds.rule == 'given' then caps[request.funds.id] = request.funds.cap end
  return next(caps) and cjson.encode(caps) or ''
end

local function write_entry(charged, debt, covered, record, caps, waived)
  return redis.call('XADD', STREAM, '*', 'charged', text(charged), 'debt', text(debt), 'covered', texts(covered), 'record', record,
    'waived', text(waived or ZERO), 'caps', caps)
end

local function spend(request, cost, charged, covered, entry)
  for _, lane in ipairs(request.lanes) do
    local there = money_lane(lane.id)
    there.spent = add(there.spent, cost)
  end
  if request.funds then
    local funds = money_lane(request.funds.id)
    funds.spent = add(funds.spent, charged)
  end
  if request.quota then
    local quota = quota_lane(request.quota.id)
    for meter, amount in pairs(covered) do quota.used[meter] = add(quota.used[meter] or ZERO, amount) end
  end
  each_lane(request, function (lane) lane.last = entry end)
end

-- Remembers what must not be done twice, until the ledger has known it for an hour.
local function remember(id, entry)
  redis.call('SET', once_key(id), entry)
  redis.call('ZADD', UNWRITTEN, (string.match(entry, '%d+')), id)
end

-- It counts no longer, and can be neither begun nor settled any more.
local function finish(id, hold)
  count(hold, subtract)
  for _, lane in ipairs(hold.request.rates and hold.request.rates.lanes or {}) do
    local there = rate_lane(lane.id)
    there.running = math.max(0, there.running - 1)
  end
  each_lane(hold.request, function (lane) if lane then lane.holds = lane.holds - 1 end end)
  redis.call('DEL', hold_key(id))
  redis.call('ZREM', LEASES, id)
  redis.call('ZREM', DOUBT, id)
end

-- Ends what has no lease any more, at most so many holds. No provider was asked for what is not in flight, and none will be, since it can't be
-- begun any more: it is freed. The rest is in doubt: it goes on being counted until its process is back, or for DOUBT_MS; then the sweep ends
-- it. To be followed by save.
local function expire(most)
  local freed = 0
  local ids = redis.call('ZRANGEBYSCORE', LEASES, '-inf', string.format('%.0f', now), 'LIMIT', 0, most)
  for _, id in ipairs(ids) do
    local hold = read_hold(id)
    redis.call('ZREM', LEASES, id)
    if hold and (hold.request.keptUntil or redis.call('HEXISTS', hold_key(id), 'inFlight') == 1) then
      redis.call('ZADD', DOUBT, string.format('%.0f', math.max(now + DOUBT_MS, hold.request.keptUntil or 0)), id)
    elseif hold then
      finish(id, hold)
      freed = freed + 1
    end
  end
  return freed
end

local function lease(id) redis.call('ZADD', LEASES, string.format('%.0f', now + LEASE_MS), id) end

local PER_UNIT, MOST_DRAINED = 60000, 4503599627370496

local function drain(lane)
  local counter = rate_lane(lane.id)
  local elapsed = now - counter.at
  if elapsed <= 0 then return counter end
  counter.at = now
  local requests = lane.requests and elapsed * lane.requests or counter.requests
  local tokens = math.min(counter.tokens, lane.tokens and elapsed * lane.tokens or counter.tokens)
  counter.requests = math.max(0, counter.requests - requests)
  counter.tokens = counter.tokens - tokens
  counter.drained = counter.drained > MOST_DRAINED and 0 or counter.drained + tokens
  return counter
end

local function is_too_fast(lane, counter, tokens)
  if lane.requests and (lane.requests < 1 or counter.requests + (1 - lane.requests) * PER_UNIT > 0) then return true end
  if lane.tokens and (tokens > lane.tokens or counter.tokens + (tokens - lane.tokens) * PER_UNIT > 0) then return true end
  return lane.concurrency ~= nil and counter.running >= lane.concurrency
end

local function states(request)
  local list = {}
  for _, lane in ipairs(request.lanes) do
    local there = money_lane(lane.id)
    list[#list + 1] = text(there.spent)
    list[#list + 1] = text(there.held)
    list[#list + 1] = there.cap and text(there.cap) or ''
  end
  return list
end

-- With what is left of the hold, where something is.
local function settled_answer(request, charged, debt, covered, waived, left)
  return cjson.encode({charged = text(charged), debt = text(debt), covered = texts(covered), waived = text(waived), states = table.concat(states(request), ' '), left = left})
end

local function levels(request)
  local list = {}
  for _, lane in ipairs(request.rates and request.rates.lanes or {}) do
    local there = rate_lane(lane.id)
    for _, kind in ipairs({'requests', 'tokens', 'running'}) do list[#list + 1] = string.format('%.0f', there[kind]) end
  end
  return list
end

local function is_before(a, b)
  local a_ms, a_count = string.match(a, '(%d+)-(%d+)')
  local b_ms, b_count = string.match(b, '(%d+)-(%d+)')
  if a_ms ~= b_ms then return tonumber(a_ms) < tonumber(b_ms) end
  return tonumber(a_count) < tonumber(b_count)
end

-- Whether the ledger has all that was settled on a lane: what it has not is in the stream.
local oldest
local function is_written(last)
  if last == '' then return true end
  if oldest == nil then
    local first = redis.call('XRANGE', STREAM, '-', '+', 'COUNT', 1)[1]
    oldest = first and first[1] or false
  end
  return not oldest or is_before(last, oldest)
end
`;
