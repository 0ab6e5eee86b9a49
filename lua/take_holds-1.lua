--[[
  Takes a place among the unpaid holds of a user and of a device for each request, where both have one left: before the request may reserve, so that no two gateways
  give the same last place away. A request that comes to several gateways has one place, and each of them a share in it: it lasts until the last share is given back, so
  that a gateway that did not reserve cannot give back the place of another that did.

  KEYS[1] holds   hash: holder ("u:" user, "d:" device) → "hold#share takenAtMs hold#share takenAtMs …", by this server's clock

  ARGV[1] most holds of a user      ARGV[2] most holds of a device      ARGV[3] ms that a hold lasts at most
  ARGV[4] "hold user device share hold user device share …", 1…64 of them, device "-" where none is known; a hold names SKU and request, a share this very try

  Reply: { 'OK', ms since the epoch, decision 1, …, decision n }, strings. decision: HELD (had its place before), TAKEN, or "USER hold takenAtMs …" and
  "DEVICE hold takenAtMs …": no place left, and who has them.
]]
local call = redis.call
local per_user, per_device, lasts = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local now_text = string.format('%.0f', now)

-- The shares of a holder that still count, how many places they are, whether one of them is `hold`, and the places alone.
local function holds_of(holder, hold)
  local kept, count, seen, places = '', 0, {}, ''
  for held, share, at in string.gmatch(call('HGET', KEYS[1], holder) or '', '([^%s#]+)#(%S+) (%d+)') do
    if now - at < lasts then
      kept = kept .. held .. '#' .. share .. ' ' .. at .. ' '
      if not seen[held] then
        seen[held], count, places = true, count + 1, places .. held .. ' ' .. at .. ' '
      end
    end
  end
  return kept, count, seen[hold] or false, places
end

local reply = { 'OK', now_text }
for hold, user, device, share in string.gmatch(ARGV[4], '(%S+) (%S+) (%S+) (%S+)') do
  local of_user, users, had, places_of_user = holds_of('u:' .. user, hold)
  local of_device, devices, device_had, places_of_device = '', 0, false, ''
  if device ~= '-' then of_device, devices, device_had, places_of_device = holds_of('d:' .. device, hold) end
  if not had and users >= per_user then
    reply[#reply + 1] = 'USER ' .. places_of_user
  elseif not had and device ~= '-' and not device_had and devices >= per_device then
    reply[#reply + 1] = 'DEVICE ' .. places_of_device
  else
    local taken = hold .. '#' .. share .. ' ' .. now_text .. ' '
    call('HSET', KEYS[1], 'u:' .. user, of_user .. taken)
    -- A repeat from another device does not take a place of that one: the unit is held once.
    if device ~= '-' and (device_had or not had) then call('HSET', KEYS[1], 'd:' .. device, of_device .. taken) end
    reply[#reply + 1] = had and 'HELD' or 'TAKEN'
  end
end
return reply
