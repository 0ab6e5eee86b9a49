--[[
  Writes one page of a rebuild beside the live keys. May be repeated.

  KEYS[1] meta   KEYS[2] new requests   KEYS[3] new users   KEYS[4] new pending

  ARGV[1] token of the lease    ARGV[2] number r of records, ARGV[3] number u of marks, ARGV[4] number p of pending entries, each 0…500
  ARGV[5…] r pairs of request id and record, u pairs of user id and request id, p request ids

  Reply: { 'OK' }, or { 'FENCED' } when the rebuild belongs to another.
]]
local meta = redis.call('HMGET', KEYS[1], 'status', 'rebuildToken')
if meta[1] ~= 'paused' or meta[2] ~= ARGV[1] then return { 'FENCED' } end

local records, users, pending = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
if records > 500 or users > 500 or pending > 500 or #ARGV ~= 4 + 2 * records + 2 * users + pending then
  return redis.error_reply('ERR rebuild_page: the page does not fit its numbers')
end
local at = 5
if records > 0 then redis.call('HSET', KEYS[2], unpack(ARGV, at, at + 2 * records - 1)) end
at = at + 2 * records
if users > 0 then redis.call('HSET', KEYS[3], unpack(ARGV, at, at + 2 * users - 1)) end
at = at + 2 * users
if pending > 0 then
  -- Due at once: whoever waits has waited long enough.
  local time = redis.call('TIME')
  local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
  local entries = {}
  for i = 0, pending - 1 do
    entries[2 * i + 1], entries[2 * i + 2] = now, ARGV[at + i]
  end
  redis.call('ZADD', KEYS[4], unpack(entries))
end
return { 'OK' }
