--[[
  Claims a bounded page of the pending index: entries that are due are pushed to the end of the lease and handed to one scanner. Due and
  lease are judged by the clock of this server, which also wrote them, so that a scanner with a wrong clock steals nothing.

  KEYS[1] requests  hash: request id → packed record
  KEYS[2] pending   sorted set: request id by due time, ms of this server's clock

  ARGV[1] lease in ms      ARGV[2] largest page, 1…500

  Reply: { 'OK', now in ms, size of the index, requestId 1, record 1, … }, strings, 3 + 2n of them. An entry without record comes
  with '' (the record was lost: evicted, or a partial restore) and stays in the index, so that it is seen and not forgotten.
]]
local limit = tonumber(ARGV[2])
if not limit or limit < 1 or limit > 500 then return redis.error_reply('ERR claim_pending: a page is 1 to 500') end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local reply = { 'OK', string.format('%.0f', now), tostring(redis.call('ZCARD', KEYS[2])) }

local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now), 'LIMIT', 0, limit)
if #ids == 0 then return reply end

local lease_until = string.format('%.0f', now + tonumber(ARGV[1]))
local records = redis.call('HMGET', KEYS[1], unpack(ids))
local leased, finished = {}, {}
for i = 1, #ids do
  local record = records[i] or ''
  local state = string.sub(record, 1, 1)
  if state == 'O' or state == 'R' or state == 'L' then
    finished[#finished + 1] = ids[i]
  else
    leased[#leased + 1] = lease_until
    leased[#leased + 1] = ids[i]
    reply[#reply + 1] = ids[i]
    reply[#reply + 1] = record
  end
end
if #leased > 0 then redis.call('ZADD', KEYS[2], 'XX', unpack(leased)) end
if #finished > 0 then redis.call('ZREM', KEYS[2], unpack(finished)) end
return reply
