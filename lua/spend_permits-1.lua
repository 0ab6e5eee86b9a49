--[[
  Spends nonces of permits whose signature is good: each belongs to the first request id that shows it, on whichever gateway, and that id may show it again. This server's
  clock alone says whether a permit is over.

  KEYS[1] permits   hash: "user:nonce" → request id. Holds the nonces of permits that end within one span of time, and goes when they are all over.

  ARGV[1] ms since the epoch from when the hash may go      ARGV[2] longest life of a permit in ms
  ARGV[3] nonces that the hash may hold                     ARGV[4] "nonce requestId expiresAtMs nonce requestId expiresAtMs …", 1…64 of them

  Reply: { 'OK', ms since the epoch, decision 1, …, decision n }, strings. decision: GOOD, "SPENT requestId" (by that one), EXPIRED, TOO_LONG or FULL.
]]
local call = redis.call
local time = call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local room = tonumber(ARGV[3]) - call('HLEN', KEYS[1])
local reply, spent = { 'OK', string.format('%.0f', now) }, false

for nonce, id, ends in string.gmatch(ARGV[4], '(%S+) (%S+) (%d+)') do
  local left = ends - now
  local by = call('HGET', KEYS[1], nonce)
  if left <= 0 then
    reply[#reply + 1] = 'EXPIRED'
  elseif left > tonumber(ARGV[2]) then
    reply[#reply + 1] = 'TOO_LONG'
  elseif by then
    reply[#reply + 1] = by == id and 'GOOD' or 'SPENT ' .. by
  elseif room < 1 then
    reply[#reply + 1] = 'FULL'
  else
    call('HSET', KEYS[1], nonce, id)
    room, spent = room - 1, true
    reply[#reply + 1] = 'GOOD'
  end
end
if spent then call('PEXPIREAT', KEYS[1], ARGV[1]) end
return reply
