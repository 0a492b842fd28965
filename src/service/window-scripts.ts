/**
 * The shared window in Redis, and the atomic scripts that are its only users. Times are milliseconds of the Redis
 * server's clock, the only clock that all processes share.
 *
 * KEYS[1], a sorted set: every token in use, scored by the time when it is returned.
 * KEYS[2], a hash: `epoch` and `created` of this state; `limit`, the last X-RateLimit-Limit; `refusals`, the number of
 * consecutive 429s, and `refused_at`, when the last of them began; `until`, the end of the pause; `probe`, the token of
 * the single request sent after it, and `probe_until`; `last`, when a token was last granted; `clock`, the latest time
 * seen.
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
 * lost; then a token and its remaining milliseconds for each token in use by this process. Replies: the epoch; 1 if it
 * is new; the milliseconds to pause, because other processes may have tokens in use that are not registered again yet.
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
 * ARGV: epoch; token; requests per window; how many of them are withheld; milliseconds until the token expires; window;
 * minimum interval between requests; how long a probe holds up the others; how long returned tokens are kept. Replies:
 * `granted` or the reason why not, milliseconds to wait, consecutive refusals, X-RateLimit-Limit or 0.
 */
export const TAKE = `${NOW}
if redis.call('HGET', state, 'epoch') ~= ARGV[1] then return {'lost', 0, 0, 0} end
local id, rate, withheld, hold = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local window, distance, alone = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
touch()
redis.call('ZREMRANGEBYSCORE', tokens, '-inf', now - ARGV[9])
-- Taken before, but the reply was lost.
redis.call('ZREM', tokens, id)
local refusals, limit = get('refusals'), get('limit')
local function no(why, wait) return {why, math.ceil(wait), refusals, limit} end
if get('until') > now then return no('paused', get('until') - now) end
if refusals > 0 and get('probe_until') > now and redis.call('HGET', state, 'probe') ~= id then return no('probe', 50) end
if limit > 0 and limit < rate then rate = limit end
local allowed = math.max(1, rate - withheld)
local out = redis.call('ZCOUNT', tokens, '(' .. now, '+inf')
if out >= allowed then
  local back = redis.call('ZRANGEBYSCORE', tokens, '(' .. now, '+inf', 'WITHSCORES', 'LIMIT', out - allowed, 1)[2]
  -- A token in flight is returned one window after its answer, which may come soon.
  return no('rate', math.min(back - now, window))
end
if distance > 0 and get('last') + distance > now then return no('rate', get('last') + distance - now) end
redis.call('ZADD', tokens, now + hold, id)
redis.call('HSET', state, 'last', now)
if refusals > 0 then redis.call('HSET', state, 'probe', id, 'probe_until', now + alone) end
return {'granted', 0, refusals, limit}
`;

/** ARGV: token; milliseconds until it is returned, 0 if it was not used. */
export const SETTLE = `${NOW}
if tonumber(ARGV[2]) > 0 then redis.call('ZADD', tokens, now + ARGV[2], ARGV[1]) else redis.call('ZREM', tokens, ARGV[1]) end
if redis.call('HGET', state, 'probe') == ARGV[1] then redis.call('HDEL', state, 'probe', 'probe_until') end
touch()
return 1
`;

/**
 * ARGV: milliseconds since the request was sent; 1 if it was not refused; X-RateLimit-Limit or 0; how many milliseconds
 * before that an answer may still count in the service's window; milliseconds from an answer until its token is
 * returned. Replies: consecutive refusals, and how many of the requests counted by the service may be from this
 * window's processes.
 */
export const OBSERVE = `${NOW}
local sent = now - ARGV[1]
if ARGV[2] == '1' and get('refusals') > 0 and sent >= get('refused_at') then
  redis.call('HSET', state, 'refusals', 0)
  redis.call('HDEL', state, 'probe', 'probe_until')
end
if tonumber(ARGV[3]) > 0 then redis.call('HSET', state, 'limit', ARGV[3]) end
touch()
return {get('refusals'), redis.call('ZCOUNT', tokens, '(' .. (sent - ARGV[4] + ARGV[5]), '+inf')}
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
