//! The order in which people expect nodes beside each other: along the ways that packets take.

use super::{NodeIndex, Plan};

impl Plan {
    /// All nodes in the order of the longest route, those of other routes before the first node that they
    /// have in common with it, and then all others, in the order of their names.
    #[must_use]
    pub fn along_routes(&self) -> Vec<NodeIndex> {
        let mut routes: Vec<&[NodeIndex]> =
            self.routing.routes.iter().map(|route| route.path.as_slice()).collect();
        routes.sort_by_key(|path| std::cmp::Reverse(path.len()));
        let mut order: Vec<NodeIndex> = Vec::new();
        for path in routes {
            let mut new: Vec<NodeIndex> = Vec::new();
            for node in path {
                match order.iter().position(|one| one == node) {
                    Some(at) => drop(order.splice(at..at, new.drain(..))),
                    None => new.push(*node),
                }
            }
            order.append(&mut new);
        }
        let others = self.nodes.ids().filter(|node| !order.contains(node));
        let others: Vec<NodeIndex> = others.collect();
        order.extend(others);
        order
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::Experiment;

    #[test]
    fn nodes_stand_in_the_order_of_the_routes_and_not_of_their_names() {
        let text = "title = 't'\nduration = '9 s'\n[node]\nright = {}\nleft = {}\nmiddle = {}\nend = {}\n\
                    aside = {}\n[link]\nleft-middle = {}\nright-middle = {}\nmiddle-end = {}\n\
                    [[route]]\nprefix = '/p'\npath = ['left', 'middle', 'end']\n\
                    [[route]]\nprefix = '/p'\npath = ['right', 'middle', 'end']\n\
                    [content.c]\nprefix = '/p'\nat = 'end'\nsize = '1 kB'\n\
                    [download.d]\nat = 'left'\ncontent = 'c'\n";
        let experiment = Experiment::parse("t", "t.toml", text).unwrap_or_else(|wrong| panic!("{wrong}"));
        let plan = experiment.plans("sim").unwrap().remove(0);
        let names: Vec<&str> = plan.along_routes().into_iter().map(|node| plan.node_name(node)).collect();
        assert_eq!(names, ["left", "right", "middle", "end", "aside"]);
    }
}
