--[[
wrk: reservations over HTTP, each with a request id and a user of its own, as customers send them.
KEYS: none. ARGV: none. Path and host come from wrk's URL.
]]
local count = 0

function request()
  count = count + 1
  return 'POST ' .. wrk.path .. ' HTTP/1.1\r\nHost: ' .. wrk.host .. '\r\nContent-Type: application/json\r\nIdempotency-Key: wrk-' .. count
    .. '\r\nX-User-Id: ' .. count .. '\r\nContent-Length: 14\r\n\r\n{"quantity":1}'
end
