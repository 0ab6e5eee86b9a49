--[[
  Pauses a SKU for a rebuild: from here on nothing is reserved, no event is applied and nothing is adjusted. What an earlier rebuild had
  written and not finished is thrown away.

  KEYS[1] meta   KEYS[2] new requests   KEYS[3] new users   KEYS[4] new pending

  ARGV[1] token of the reconciler's lease: a whole number that rises with each new holder

  Reply: { 'PAUSED' }, or { 'FENCED' } when a newer holder has begun, finished or not.
]]
local holder = tonumber(redis.call('HGET', KEYS[1], 'rebuildToken') or '0')
if holder > tonumber(ARGV[1]) then return { 'FENCED' } end
redis.call('HSET', KEYS[1], 'status', 'paused', 'rebuildToken', ARGV[1])
redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4])
return { 'PAUSED' }
