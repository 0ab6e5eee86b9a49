--[[
  Gives places among the unpaid holds back (take_holds): the request reserved nothing, or its unit is paid or returned.

  KEYS[1] holds   hash: holder → "hold takenAtMs hold takenAtMs …"

  ARGV[1] "holder hold holder hold …"

  Reply: { 'OK', number of places given back }, two strings.
]]
local call, dropped = redis.call, 0
for holder, hold in string.gmatch(ARGV[1], '(%S+) (%S+)') do
  local kept, before = '', call('HGET', KEYS[1], holder) or ''
  for held, at in string.gmatch(before, '(%S+) (%d+)') do
    if held == hold then dropped = dropped + 1 else kept = kept .. held .. ' ' .. at .. ' ' end
  end
  if kept == '' then
    call('HDEL', KEYS[1], holder)
  elseif kept ~= before then
    call('HSET', KEYS[1], holder, kept)
  end
end
return { 'OK', tostring(dropped) }
