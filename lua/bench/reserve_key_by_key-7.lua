--[[
  The reserve script as paper 000 §8 lays its keys out, one key per user, request and reservation: what `bench reserve-redis` compares with.
  Never used by the system.

  KEYS[1] meta  KEYS[2] stock  KEYS[3] user:{user}  KEYS[4] req:{request}  KEYS[5] resv:{reservation}  KEYS[6] resv:pending  KEYS[7] soldout

  ARGV[1] request id  ARGV[2] user id  ARGV[3] reservation id  ARGV[4] message id  ARGV[5] payload hash  ARGV[6] reserved at, ms
  ARGV[7] expires at, ms  ARGV[8] seconds to live

  Reply: { code, reservation id }, two strings.
]]
local known = redis.call('HGET', KEYS[4], 'payload_hash')
if known then
  if known ~= ARGV[5] then return { 'IDEMPOTENCY_CONFLICT', '' } end
  return { 'REPEATED', redis.call('HGET', KEYS[4], 'reservation_id') }
end
if redis.call('EXISTS', KEYS[7]) == 1 then return { 'SOLD_OUT', '' } end
if redis.call('HGET', KEYS[1], 'status') ~= 'open' then return { 'ACTIVITY_INVALID', '' } end
if redis.call('EXISTS', KEYS[3]) == 1 then return { 'USER_HAS_ONE', '' } end
local left = tonumber(redis.call('GET', KEYS[2]) or '0')
if left < 1 then return { 'SOLD_OUT', '' } end
redis.call('DECR', KEYS[2])
redis.call('SET', KEYS[3], ARGV[3], 'EX', ARGV[8])
redis.call('HSET', KEYS[4], 'payload_hash', ARGV[5], 'reservation_id', ARGV[3], 'status', 'PENDING')
redis.call('EXPIRE', KEYS[4], ARGV[8])
redis.call('HSET', KEYS[5], 'reservation_id', ARGV[3], 'message_id', ARGV[4], 'request_id', ARGV[1], 'user_id', ARGV[2], 'status', 'PENDING',
  'payload_hash', ARGV[5], 'reserved_at', ARGV[6], 'expires_at', ARGV[7], 'send_attempts', '0')
redis.call('EXPIRE', KEYS[5], ARGV[8])
redis.call('ZADD', KEYS[6], ARGV[6], ARGV[3])
return { 'RESERVED', ARGV[3] }
