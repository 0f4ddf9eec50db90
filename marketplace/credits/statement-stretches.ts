/**
 * SQL of the statement of some kinds: the stretches between two marks (`since`, `through`) that have enough postings of these kinds for
 * a page, the newest first, so that only what lies in these is looked through. `$4` has the kinds, `$2` and `$3` the period, `$8` the
 * place in microseconds, `$10` how many postings are asked for.
 */
export const stretches = `
  with marks as (
    select through, coalesce(sum(postings) filter (where kind = any($4)), 0) as found
    from statement_marks where account_id = $1 group by through
  ), steps as (
    select coalesce(lag(through) over in_time, '-infinity') as since, through, found - coalesce(lag(found) over in_time, 0) as found
    from marks window in_time as (order by through)
    union all
    select coalesce(max(through), '-infinity'), 'infinity', null from marks
  ), asked as (
    select coalesce($2::timestamptz, '-infinity') as first,
      least($3::timestamptz, timestamptz 'epoch' + $8::bigint * interval '1 microsecond', 'infinity') as last
  ), stretches as (
    select since, through from (
      select since, through, sum(case when through <= last then found end)
          over (order by through desc rows between unbounded preceding and 1 preceding) as found_before
      from steps, asked where since <= last and through > first and found is distinct from 0
    ) newest where coalesce(found_before, 0) < $10
  )`;
