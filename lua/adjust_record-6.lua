--[[
  One repair of the reconciler, as a delta and never as an absolute value (paper 004 §12): SET would overwrite reservations that are being
  made right now. Done once per adjustment id, and only where the record and the user's mark are still what the reconciler saw.

  KEYS[1] stock   KEYS[2] meta   KEYS[3] requests   KEYS[4] users   KEYS[5] pending
  KEYS[6] adjustments   hash: adjustment id → "kind delta time"

  ARGV[1] adjustment id          ARGV[2] epoch it was planned for            ARGV[3] kind
  ARGV[4] request id, or -       ARGV[5] its record as seen; - none; * any   ARGV[6] its record from now on; - leave
  ARGV[7] delta of the stock     ARGV[8] user id, or -                       ARGV[9] the mark as seen; - none
  ARGV[10] the mark from now on; - none
  ARGV[11] pending index: add, remove or keep

  Reply: one string. APPLIED; ALREADY (this id was made before); CHANGED (something moved since: nothing is done); EPOCH (a rebuild came
  between); PAUSED (a rebuild is under way, or there is no stock to adjust).
]]
local call = redis.call
if call('HEXISTS', KEYS[6], ARGV[1]) == 1 then return { 'ALREADY' } end
local meta = call('HMGET', KEYS[2], 'epoch', 'status')
local stock = tonumber(call('GET', KEYS[1]) or '')
if meta[2] == 'paused' or not stock then return { 'PAUSED' } end
if meta[1] ~= ARGV[2] then return { 'EPOCH' } end

local request, user = ARGV[4], ARGV[8]
if request ~= '-' and ARGV[5] ~= '*' then
  if (call('HGET', KEYS[3], request) or '-') ~= ARGV[5] then return { 'CHANGED' } end
end
if user ~= '-' and (call('HGET', KEYS[4], user) or '-') ~= ARGV[9] then return { 'CHANGED' } end

local time = call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local delta = tonumber(ARGV[7])
if delta ~= 0 then call('INCRBY', KEYS[1], ARGV[7]) end
if request ~= '-' and ARGV[6] ~= '-' then call('HSET', KEYS[3], request, ARGV[6]) end
if user ~= '-' then
  if ARGV[10] == '-' then call('HDEL', KEYS[4], user) else call('HSET', KEYS[4], user, ARGV[10]) end
end
if ARGV[11] == 'add' then call('ZADD', KEYS[5], now, request) end
if ARGV[11] == 'remove' then call('ZREM', KEYS[5], request) end
call('HSET', KEYS[6], ARGV[1], ARGV[3] .. ' ' .. ARGV[7] .. ' ' .. now)
return { 'APPLIED' }
