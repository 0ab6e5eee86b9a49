--[[
  Opens a SKU in this Redis: stock and meta, only where nothing is there yet. Writes the server's own run id beside the epoch, so that a
  connection can tell whether it talks to the Redis that was warmed up or to another one (a promoted replica, a restarted server).
  Sets no time to live: nothing here may expire before sale end + 24 h, and keys with one are the first to be evicted.

  KEYS[1] stock   KEYS[2] meta   KEYS[3] requests   KEYS[4] users   KEYS[5] pending

  ARGV[1] stock, 0…10^9      ARGV[2] epoch      ARGV[3], ARGV[4], … further field and value of meta

  Reply: { status, epoch that is there now or '' }, two strings. WRITTEN; ALREADY (stock and meta are there: nothing changed); LEFTOVERS
  (some keys of the SKU are there without both: part of it was lost, and opening with full stock would sell units twice).
]]
local stock = tonumber(ARGV[1])
if not stock or stock < 0 or stock > 1e9 or stock ~= math.floor(stock) then
  return redis.error_reply('ERR warm_up: the stock is a whole number from 0 to 10^9')
end
if #ARGV % 2 ~= 0 then return redis.error_reply('ERR warm_up: meta comes in pairs of field and value') end

local there = redis.call('EXISTS', KEYS[1], KEYS[2])
if there == 2 then return { 'ALREADY', redis.call('HGET', KEYS[2], 'epoch') or '' } end
if there > 0 or redis.call('EXISTS', KEYS[3], KEYS[4], KEYS[5]) > 0 then
  return { 'LEFTOVERS', redis.call('HGET', KEYS[2], 'epoch') or '' }
end

local run_id = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
redis.call('HSET', KEYS[2], 'epoch', ARGV[2], 'runId', run_id, unpack(ARGV, 3))
redis.call('SET', KEYS[1], string.format('%.0f', stock))
return { 'WRITTEN', ARGV[2] }
