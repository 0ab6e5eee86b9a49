--[[
  Gives places among the unpaid holds back (take_holds): one share, where the request reserved nothing; the whole place, where its unit is paid or returned.

  KEYS[1] holds   hash: holder → "hold#share takenAtMs hold#share takenAtMs …"

  ARGV[1] "holder hold share holder hold share …", share "*": all of them

  Reply: { 'OK', number of shares given back }, two strings.
]]
local call, dropped = redis.call, 0
for holder, hold, share in string.gmatch(ARGV[1], '(%S+) (%S+) (%S+)') do
  local kept, before = '', call('HGET', KEYS[1], holder) or ''
  for held, of, at in string.gmatch(before, '([^%s#]+)#(%S+) (%d+)') do
    if held == hold and (share == '*' or of == share) then
      dropped = dropped + 1
    else
      kept = kept .. held .. '#' .. of .. ' ' .. at .. ' '
    end
  end
  if kept == '' then
    call('HDEL', KEYS[1], holder)
  elseif kept ~= before then
    call('HSET', KEYS[1], holder, kept)
  end
end
return { 'OK', tostring(dropped) }
