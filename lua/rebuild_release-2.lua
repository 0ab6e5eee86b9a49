--[[
  Lets a part of the units go that a rebuild holds back: moves them from meta to the stock, in one step.

  KEYS[1] stock   KEYS[2] meta

  ARGV[1] most units to let go   ARGV[2] epoch of the rebuild

  Reply: { 'OK', units let go, units still held back }, or { 'EPOCH', '0', '0' } when another rebuild came, or a pause.
]]
local meta = redis.call('HMGET', KEYS[2], 'epoch', 'status', 'heldBack')
if meta[1] ~= ARGV[2] or meta[2] == 'paused' or redis.call('EXISTS', KEYS[1]) == 0 then return { 'EPOCH', '0', '0' } end
local held = tonumber(meta[3] or '0')
local units = math.min(held, tonumber(ARGV[1]))
if units > 0 then
  redis.call('INCRBY', KEYS[1], string.format('%.0f', units))
  redis.call('HSET', KEYS[2], 'heldBack', string.format('%.0f', held - units))
end
return { 'OK', string.format('%.0f', units), string.format('%.0f', held - units) }
