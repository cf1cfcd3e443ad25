//! What a controller knows of each route by which Data comes.

use packet::time::{Duration, Instant};

/// Routes that are told apart. Beyond that the one without Data for longest is forgotten.
const MAX_ROUTES: usize = 16;

#[derive(Debug)]
pub(super) struct Routes<T>(Vec<Route<T>>);

#[derive(Debug)]
struct Route<T> {
    id: u64,
    last_data: Instant,
    known: T,
}

impl<T> Routes<T> {
    /// None yet.
    pub(super) fn new() -> Self {
        Routes(Vec::new())
    }

    /// Data came by a route: what is known of it, which is `first` if nothing was.
    pub(super) fn handle_data(&mut self, now: Instant, id: u64, first: impl FnOnce() -> T) -> &mut T {
        let place = match self.0.iter().position(|route| route.id == id) {
            Some(place) => place,
            None => {
                if self.0.len() >= MAX_ROUTES {
                    let oldest = (0..self.0.len()).min_by_key(|&place| self.0[place].last_data);
                    self.0.swap_remove(oldest.unwrap_or(0));
                }
                self.0.push(Route { id, last_data: now, known: first() });
                self.0.len() - 1
            }
        };
        let route = &mut self.0[place];
        route.last_data = now;
        &mut route.known
    }

    /// Forgets routes that have brought no Data for so long.
    pub(super) fn forget_silent(&mut self, now: Instant, lifetime: Duration) {
        self.0.retain(|route| now.saturating_since(route.last_data) < lifetime);
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// What is known of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|route| &route.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beyond_the_limit_the_route_without_data_for_longest_is_forgotten() {
        let at = Instant::from_secs;
        let mut routes = Routes::new();
        for id in 0..MAX_ROUTES as u64 {
            routes.handle_data(at(id), id, || id);
        }
        assert_eq!(*routes.handle_data(at(100), 0, || 99), 0, "it is known");
        routes.handle_data(at(101), 50, || 50);
        let known: Vec<u64> = routes.iter().copied().collect();
        assert!(known.len() == MAX_ROUTES && known.contains(&0) && !known.contains(&1), "{known:?}");
        routes.forget_silent(at(101), Duration::from_secs(2));
        assert_eq!(routes.iter().count(), 2);
    }
}
