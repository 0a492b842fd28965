/**
 * The shared window in Redis, and the atomic scripts that are its only users. Times are milliseconds of the Redis
 * server's clock, the only clock that all processes share.
 *
 * KEYS[1], a sorted set: the tokens taken, scored by when their requests were or will be answered at the latest. For each
 * window of `--rate`, a token is in use until one window after that.
 * KEYS[2], a hash: `epoch` and `created` of this state; `limit`, the last X-RateLimit-Limit; `refusals`, the number of
 * consecutive 429s, and `refused_at`, when the last of them began; `until`, the end of the pause; `probe`, the token of
 * the single request sent after it, and `probe_until`; `last`, when a token was last granted; `kept`, for how long tokens
 * are kept after their answer; `clock`, the latest time seen.
 */

/** The state expires when no process has used it for this long. */
const EXPIRY_MS = 24 * 60 * 60 * 1000;

/** If the server's clock was set back, all stored times are moved back by the same amount. */
const NOW = `
local tokens, state = KEYS[1], KEYS[2]
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local function get(field) return tonumber(redis.call('HGET', state, field) or '') or 0 end
local behind = get('clock') - now
if behind > 1000 then
  local all = redis.call('ZRANGE', tokens, 0, -1, 'WITHSCORES')
  for i = 1, #all, 2 do redis.call('ZADD', tokens, all[i + 1] - behind, all[i]) end
  for _, field in ipairs({'created', 'refused_at', 'until', 'probe_until', 'last'}) do
    if get(field) > 0 then redis.call('HSET', state, field, get(field) - behind) end
  end
end
local function touch()
  redis.call('HSET', state, 'clock', now)
  redis.call('PEXPIRE', state, ${EXPIRY_MS})
  redis.call('PEXPIRE', tokens, ${EXPIRY_MS})
end
`;

/**
 * ARGV: the epoch this process knows, or ''; a new epoch to use if there is none; how long to pause if the state was
 * lost; then each token in use by this process, and the milliseconds until its request is answered at the latest (negative
 * if it was answered). Replies: the epoch; 1 if it is new; the milliseconds to pause, because other processes may have
 * tokens in use that are not registered again yet.
 */
export const JOIN = `${NOW}
local epoch = redis.call('HGET', state, 'epoch')
local begins = 0
if not epoch then
  epoch = ARGV[2]
  begins = 1
  redis.call('HSET', state, 'epoch', epoch, 'created', now)
end
local wait = 0
if ARGV[1] ~= '' and ARGV[1] ~= epoch then
  local ends = get('created') + ARGV[3]
  if ends > now then wait = ends - now end
  if ends > get('until') then redis.call('HSET', state, 'until', ends) end
end
for i = 4, #ARGV, 2 do redis.call('ZADD', tokens, now + ARGV[i + 1], ARGV[i]) end
touch()
return {epoch, begins, wait}
`;

/**
 * ARGV: epoch; token; how many requests of each window are withheld; the longest time a request can take; minimum interval
 * between requests; how long tokens are kept after their answer; then requests and window of each quota. Replies:
 * `granted` or the reason why not, milliseconds to wait, consecutive refusals, X-RateLimit-Limit or 0.
 */
export const TAKE = `${NOW}
if redis.call('HGET', state, 'epoch') ~= ARGV[1] then return {'lost', 0, 0, 0} end
local id, withheld, timeout, distance = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
touch()
-- A process with longer windows may share the key.
if tonumber(ARGV[6]) > get('kept') then redis.call('HSET', state, 'kept', ARGV[6]) end
redis.call('ZREMRANGEBYSCORE', tokens, '-inf', now - get('kept'))
-- Taken before, but the reply was lost.
redis.call('ZREM', tokens, id)
local refusals, limit = get('refusals'), get('limit')
local function no(why, wait) return {why, math.ceil(wait), refusals, limit} end
if get('until') > now then return no('paused', get('until') - now) end
if refusals > 0 and get('probe_until') > now and redis.call('HGET', state, 'probe') ~= id then return no('probe', 50) end
local wait = 0
for i = 7, #ARGV, 2 do
  local rate, window = tonumber(ARGV[i]), tonumber(ARGV[i + 1])
  if limit > 0 and limit < rate then rate = limit end
  local allowed = math.max(1, rate - withheld)
  local from = '(' .. (now - window)
  local out = redis.call('ZCOUNT', tokens, from, '+inf')
  if out >= allowed then
    local oldest = redis.call('ZRANGEBYSCORE', tokens, from, '+inf', 'WITHSCORES', 'LIMIT', out - allowed, 1)[2]
    -- A request in flight may be answered soon.
    wait = math.max(wait, math.min(oldest + window - now, window))
  end
end
if wait > 0 then return no('rate', wait) end
if distance > 0 and get('last') + distance > now then return no('rate', get('last') + distance - now) end
redis.call('ZADD', tokens, now + timeout, id)
redis.call('HSET', state, 'last', now)
if refusals > 0 then redis.call('HSET', state, 'probe', id, 'probe_until', now + timeout) end
return {'granted', 0, refusals, limit}
`;

/** ARGV: token; 1 if its request has been answered or has failed, 0 if it was not used. */
export const SETTLE = `${NOW}
if ARGV[2] == '1' then redis.call('ZADD', tokens, now, ARGV[1]) else redis.call('ZREM', tokens, ARGV[1]) end
if redis.call('HGET', state, 'probe') == ARGV[1] then redis.call('HDEL', state, 'probe', 'probe_until') end
touch()
return 1
`;

/**
 * ARGV: milliseconds since the request was sent; 1 if it was not refused; X-RateLimit-Limit or 0; how many milliseconds
 * before that an answer may still count in the service's window. Replies: consecutive refusals, and how many of the
 * requests counted by the service may be from this window's processes.
 */
export const OBSERVE = `${NOW}
local sent = now - ARGV[1]
if ARGV[2] == '1' and get('refusals') > 0 and sent >= get('refused_at') then
  redis.call('HSET', state, 'refusals', 0)
  redis.call('HDEL', state, 'probe', 'probe_until')
end
if tonumber(ARGV[3]) > 0 then redis.call('HSET', state, 'limit', ARGV[3]) end
touch()
return {get('refusals'), redis.call('ZCOUNT', tokens, '(' .. (sent - ARGV[4]), '+inf')}
`;

/**
 * ARGV: milliseconds since the refused request was sent; how long to wait after the first, second, … consecutive
 * refusal. Replies: consecutive refusals, milliseconds to wait.
 */
export const REFUSE = `${NOW}
local refusals = get('refusals')
if refusals == 0 or now - ARGV[1] >= get('refused_at') then
  refusals = refusals + 1
  redis.call('HSET', state, 'refusals', refusals, 'refused_at', now)
end
local ends = math.max(get('until'), now + ARGV[math.min(refusals + 1, #ARGV)])
redis.call('HSET', state, 'until', ends)
touch()
return {refusals, math.ceil(ends - now)}
`;
