/** Amounts and counters stay below 10^24 in all arithmetic; what comes in is refused above this, as the ledger's columns would. */
export const LARGEST_AMOUNT = 2n ** 63n - 1n;

/**
 * Exact integers in Lua 5.1, whose only numbers are doubles: `{high, low}` stands for high × 10^12 + low with 0 <= low < 10^12, in floor
 * notation, so that a negative number has a negative `high`. No intermediate result reaches 2^53: sums of two halves stay below 2 × 10^12,
 * products are made of factors below 10^6 or are themselves below 9 × 10^15, and quotients digit by digit in base 10^4 of remainders below 9 × 10^11.
 */
export const EXACT_INTEGERS = /* lua */ `
local BASE, HALF, DIGIT = 1000000000000, 1000000, 10000
local SMALL = 9000000000000000
local ZERO = {0, 0}

-- Exact for whole doubles, which Lua's own operators are not: % is made of a division that rounds.
local function parts(number, by)
  local rest = math.fmod(number, by)
  return (number - rest) / by, rest
end

local function negative(a)
  if a[2] == 0 then return {-a[1], 0} end
  return {-a[1] - 1, BASE - a[2]}
end

local function exact(text)
  if #text <= 12 then
    local number = tonumber(text)
    if number < 0 then return {-1, BASE + number} end
    return {0, number}
  end
  local is_negative = string.byte(text) == 45
  local digits = is_negative and string.sub(text, 2) or text
  local number = {tonumber(string.sub(digits, 1, -13)) or 0, tonumber(string.sub(digits, -12))}
  if is_negative then return negative(number) end
  return number
end

-- Lua writes a whole number in all its digits as long as it has no more than fourteen.
local function text(a)
  if a[1] == 0 then return tostring(a[2]) end
  local sign = ''
  if a[1] < 0 then sign, a = '-', negative(a) end
  if a[1] == 0 then return sign .. tostring(a[2]) end
  return sign .. string.format('%.0f%012.0f', a[1], a[2])
end

local function add(a, b)
  local high, low = a[1] + b[1], a[2] + b[2]
  if low >= BASE then return {high + 1, low - BASE} end
  return {high, low}
end

local function subtract(a, b)
  local high, low = a[1] - b[1], a[2] - b[2]
  if low < 0 then return {high - 1, low + BASE} end
  return {high, low}
end

local function at_most(a, b)
  return a[1] < b[1] or (a[1] == b[1] and a[2] <= b[2])
end

-- Of two numbers from 0 to 10^12.
local function product(a, b)
  local a1, a0 = parts(a, HALF)
  local b1, b0 = parts(b, HALF)
  local cross1, cross0 = parts(a1 * b0 + a0 * b1, HALF)
  return add({a1 * b1 + cross1, 0}, add({0, a0 * b0}, {0, cross0 * HALF}))
end

-- ceil((a + b * times) / by) of integers that are not negative; times < 10^12, by < 9 * 10^11.
local function scaled(a, b, times, by)
  -- Nearly always everything is small enough for a plain number.
  if a[1] == 0 and b[1] == 0 then
    local sum = a[2] + b[2] * times
    if sum < SMALL then
      local quotient, rest = parts(sum, by)
      if rest > 0 then quotient = quotient + 1 end
      if quotient < BASE then return {0, quotient} end
      return {parts(quotient, BASE)}
    end
  end
  local low, high = product(b[2], times), product(b[1], times)
  local bottom = add({0, low[2]}, {0, a[2]})
  local middle = add(add({0, low[1]}, {0, high[2]}), {0, a[1]})
  middle = add(middle, {0, bottom[1]})
  local limbs = {high[1] + middle[1], middle[2], bottom[2]}
  local rest = 0
  for index = 1, 3 do
    local upper, lower2 = parts(limbs[index], DIGIT * DIGIT)
    local lower1, lower0 = parts(lower2, DIGIT)
    local quotient = 0
    for _, digit in ipairs({upper, lower1, lower0}) do
      local times_by
      times_by, rest = parts(rest * DIGIT + digit, by)
      quotient = quotient * DIGIT + times_by
    end
    limbs[index] = quotient
  end
  if limbs[1] > 0 then error('an amount exceeds 10^24') end
  local result = {limbs[2], limbs[3]}
  if rest > 0 then return add(result, {0, 1}) end
  return result
end

local function least(a, b)
  if at_most(a, b) then return a end
  return b
end

-- Of numbers that are not negative, in limbs of base 10^12, the lowest first.
local function wide_product(a, b)
  local low, left, right, high = product(a[2], b[2]), product(a[2], b[1]), product(a[1], b[2]), product(a[1], b[1])
  local second = add(add({0, low[1]}, {0, left[2]}), {0, right[2]})
  local third = add(add(add({0, left[1]}, {0, right[1]}), {0, high[2]}), {0, second[1]})
  return {low[2], second[2], third[2], high[1] + third[1]}
end

-- ceil(a * part / whole) for 0 <= part <= whole, whole > 0: the least number that times the whole is no less, found by halving.
local function pro_rata(a, part, whole)
  if at_most(whole, part) then return a end
  local wanted = wide_product(a, part)
  local function is_enough(number)
    local there = wide_product(number, whole)
    for limb = 4, 1, -1 do
      if there[limb] ~= wanted[limb] then return there[limb] > wanted[limb] end
    end
    return true
  end
  local low, high = ZERO, a
  while not at_most(high, low) do
    local sum = add(low, high)
    local upper, odd = parts(sum[1], 2)
    local middle = {upper, (parts(odd * BASE + sum[2], 2))}
    if is_enough(middle) then high = middle else low = add(middle, {0, 1}) end
  end
  return low
end
`;
