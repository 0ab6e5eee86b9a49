--[[
  Puts the rebuilt keys in the place of the live ones and ends the pause in a new epoch, all at once. The whole stock is held back at first;
  lua/rebuild_release-2.lua lets it go in steps, so that the end of the pause is no second flood (paper 004 §13, item 8). The token stays in meta: a
  reconciler that led before this one and wakes up only now must not pause the SKU again.

  KEYS[1] stock   KEYS[2] meta   KEYS[3] requests   KEYS[4] users   KEYS[5] pending   KEYS[6] adjustments
  KEYS[7] new requests   KEYS[8] new users   KEYS[9] new pending

  ARGV[1] token of the lease   ARGV[2] units that can be sold   ARGV[3] new epoch   ARGV[4], ARGV[5], … further field and value of meta, the
  status among them

  Reply: { 'DONE', run id of this server }, or { 'FENCED' } when the rebuild belongs to another.
]]
local meta = redis.call('HMGET', KEYS[2], 'status', 'rebuildToken')
if meta[1] ~= 'paused' or meta[2] ~= ARGV[1] then return { 'FENCED' } end
if #ARGV % 2 ~= 1 then return redis.error_reply('ERR rebuild_finish: meta comes in pairs of field and value') end

local call = redis.call
call('UNLINK', KEYS[3], KEYS[4], KEYS[5])
if call('EXISTS', KEYS[7]) == 1 then call('RENAME', KEYS[7], KEYS[3]) end
if call('EXISTS', KEYS[8]) == 1 then call('RENAME', KEYS[8], KEYS[4]) end
if call('EXISTS', KEYS[9]) == 1 then call('RENAME', KEYS[9], KEYS[5]) end
-- Adjustments of an older epoch are refused by their epoch.
call('UNLINK', KEYS[6])
call('SET', KEYS[1], '0')
local run_id = string.match(call('INFO', 'server'), 'run_id:(%x+)')
call('HSET', KEYS[2], 'epoch', ARGV[3], 'runId', run_id, 'heldBack', ARGV[2], unpack(ARGV, 4))
return { 'DONE', run_id }
