--[[
  Takes a place among the unpaid holds of a user and of a device for each request, where both have one left: before the request may reserve, so that no two gateways
  give the same last place away.

  KEYS[1] holds   hash: holder ("u:" user, "d:" device) → "hold takenAtMs hold takenAtMs …", by this server's clock

  ARGV[1] most holds of a user      ARGV[2] most holds of a device      ARGV[3] ms that a hold lasts at most
  ARGV[4] "hold user device hold user device …", 1…64 of them, device "-" where none is known; a hold names SKU and request

  Reply: { 'OK', ms since the epoch, decision 1, …, decision n }, strings. decision: HELD (had its place before), TAKEN, or "USER hold takenAtMs …" and
  "DEVICE hold takenAtMs …": no place left, and who has them.
]]
local call = redis.call
local per_user, per_device, lasts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local now_text = string.format('%.0f', now)

-- The holds of a holder that still count, how many they are, and whether one of them is `hold`.
local function holds_of(holder, hold)
  local kept, count, has = '', 0, false
  for held, at in string.gmatch(call('HGET', KEYS[1], holder) or '', '(%S+) (%d+)') do
    if now - at < lasts then
      kept, count, has = kept .. held .. ' ' .. at .. ' ', count + 1, has or held == hold
    end
  end
  return kept, count, has
end

local reply = { 'OK', now_text }
for hold, user, device in string.gmatch(ARGV[4], '(%S+) (%S+) (%S+)') do
  local of_user, users, had = holds_of('u:' .. user, hold)
  local of_device, devices = '', 0
  if device ~= '-' then of_device, devices = holds_of('d:' .. device, hold) end
  if had then
    reply[#reply + 1] = 'HELD'
  elseif users >= per_user then
    reply[#reply + 1] = 'USER ' .. of_user
  elseif device ~= '-' and devices >= per_device then
    reply[#reply + 1] = 'DEVICE ' .. of_device
  else
    local taken = hold .. ' ' .. now_text .. ' '
    call('HSET', KEYS[1], 'u:' .. user, of_user .. taken)
    if device ~= '-' then call('HSET', KEYS[1], 'd:' .. device, of_device .. taken) end
    reply[#reply + 1] = 'TAKEN'
  end
end
return reply
