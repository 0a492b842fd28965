/**
 * The shared window as Redis keeps it, and the scripts that are all who touch it; each is one step that nothing comes
 * between. Times are milliseconds of the Redis server's clock, the only clock that all processes have in common.
 *
 * KEYS[1], a sorted set: every token that is out, by when it comes back.
 * KEYS[2], a hash: `epoch` and `created` of this state; `limit`, X-RateLimit-Limit as last seen; `refusals` in a row and
 * when the last began, `refused_at`; `until`, the end of the pause; `probe`, the token that goes alone after it, and
 * `probe_until`; `last`, when a token was last given out; `clock`, the latest time seen.
 */

/** After so long without a word of anybody Redis forgets. */
const FORGOTTEN_MS = 24 * 60 * 60 * 1000;

/** A clock that was set back by an hour would hold all tokens for an hour more: everything moves with it. */
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
local function known()
  redis.call('HSET', state, 'clock', now)
  redis.call('PEXPIRE', state, ${FORGOTTEN_MS})
  redis.call('PEXPIRE', tokens, ${FORGOTTEN_MS})
end
`;

/**
 * ARGV: the epoch this process knows, or ''; one to begin; for how long nothing goes out if what Redis knew is lost; then
 * token and milliseconds left, in turn, for each token this process has out. Replies: epoch, 1 if it begins here, the
 * milliseconds for which nothing goes out because others may have tokens out that Redis has forgotten.
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
known()
return {epoch, begins, wait}
`;

/**
 * ARGV: epoch; token; requests a window; those withheld of them; milliseconds after which the token comes back by itself;
 * window; least distance between requests; for how long one that goes alone holds up the others; for how long tokens that
 * came back are remembered. Replies: `granted` or why not, milliseconds to wait, refusals in a row, X-RateLimit-Limit or 0.
 */
export const TAKE = `${NOW}
if redis.call('HGET', state, 'epoch') ~= ARGV[1] then return {'lost', 0, 0, 0} end
local id, rate, withheld, hold = ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local window, distance, alone = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8])
known()
redis.call('ZREMRANGEBYSCORE', tokens, '-inf', now - ARGV[9])
-- Asked for before, and the reply was lost.
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
  -- One that is in flight comes back a window after its answer, which may be soon.
  return no('rate', math.min(back - now, window))
end
if distance > 0 and get('last') + distance > now then return no('rate', get('last') + distance - now) end
redis.call('ZADD', tokens, now + hold, id)
redis.call('HSET', state, 'last', now)
if refusals > 0 then redis.call('HSET', state, 'probe', id, 'probe_until', now + alone) end
return {'granted', 0, refusals, limit}
`;

/** ARGV: token; milliseconds after which it comes back, 0 for one that was not used. */
export const SETTLE = `${NOW}
if tonumber(ARGV[2]) > 0 then redis.call('ZADD', tokens, now + ARGV[2], ARGV[1]) else redis.call('ZREM', tokens, ARGV[1]) end
if redis.call('HGET', state, 'probe') == ARGV[1] then redis.call('HDEL', state, 'probe', 'probe_until') end
known()
return 1
`;

/**
 * ARGV: milliseconds since the request was sent; 1 if it was not refused; X-RateLimit-Limit or 0; milliseconds before
 * that sending since when answers may count in the service's window; milliseconds a token is out after its answer.
 * Replies: refusals in a row, and how many of the service's requests may be those of processes that share this window.
 */
export const OBSERVE = `${NOW}
local sent = now - ARGV[1]
if ARGV[2] == '1' and get('refusals') > 0 and sent >= get('refused_at') then
  redis.call('HSET', state, 'refusals', 0)
  redis.call('HDEL', state, 'probe', 'probe_until')
end
if tonumber(ARGV[3]) > 0 then redis.call('HSET', state, 'limit', ARGV[3]) end
known()
return {get('refusals'), redis.call('ZCOUNT', tokens, '(' .. (sent - ARGV[4] + ARGV[5]), '+inf')}
`;

/**
 * ARGV: milliseconds since the refused request was sent; how long to wait after the first refusal in a row, the second …
 * Replies: refusals in a row, milliseconds to wait.
 */
export const REFUSE = `${NOW}
local refusals = get('refusals')
if refusals == 0 or now - ARGV[1] >= get('refused_at') then
  refusals = refusals + 1
  redis.call('HSET', state, 'refusals', refusals, 'refused_at', now)
end
local ends = math.max(get('until'), now + ARGV[math.min(refusals + 1, #ARGV)])
redis.call('HSET', state, 'until', ends)
known()
return {refusals, math.ceil(ends - now)}
`;
