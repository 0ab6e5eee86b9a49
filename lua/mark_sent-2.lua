--[[
  Notes that the broker confirmed the messages of these requests: PENDING → SENT, an observation only. The entry stays in the pending
  index until a result is projected; its time moves away, since a confirmed message needs patience and not a resend.

  KEYS[1] requests  hash: request id → packed record
  KEYS[2] pending   sorted set: request id by due time, ms of this server's clock

  ARGV[1] ms until the scanner looks again      ARGV[2] "requestId requestId …", 1…500 of them

  Reply: { 'OK', number of records that changed }, two strings. Unknown and finished records are left alone.
]]
local ids = {}
for id in string.gmatch(ARGV[2], '%S+') do ids[#ids + 1] = id end
if #ids < 1 or #ids > 500 then return redis.error_reply('ERR mark_sent: 1 to 500 request ids, please') end

local time = redis.call('TIME')
local due_at = string.format('%.0f', tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[1]))
local records = redis.call('HMGET', KEYS[1], unpack(ids))

local changed, due = {}, {}
for i = 1, #ids do
  local record = records[i]
  local state = record and string.sub(record, 1, 1)
  if state == 'P' then
    changed[#changed + 1] = ids[i]
    changed[#changed + 1] = 'S' .. string.sub(record, 2)
  end
  if state == 'P' or state == 'S' then
    due[#due + 1] = due_at
    due[#due + 1] = ids[i]
  end
end
if #changed > 0 then redis.call('HSET', KEYS[1], unpack(changed)) end
-- XX: what a projection took out never comes back. GT: a mark that arrives late never brings a later look forward.
if #due > 0 then redis.call('ZADD', KEYS[2], 'XX', 'GT', unpack(due)) end
return { 'OK', tostring(#changed / 2) }
