//! `rib/list`: the routes that next hops are made from.

use packet::Name;
use packet::error::DecodeError;

use super::sealed;
use crate::fields::{self, Fields};
use crate::types;
use crate::values::{RouteFlags, RouteOrigin};

/// A prefix and its routes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RibEntry {
    /// The prefix.
    pub prefix: Name,
    /// Its own routes, not those it inherits.
    pub routes: Vec<Route>,
}

/// A route: one face and one origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Route {
    /// The face it leads by.
    pub face_id: u64,
    /// Who made it.
    pub origin: RouteOrigin,
    /// What it costs.
    pub cost: u64,
    /// How it is inherited.
    pub flags: RouteFlags,
    /// Time left to live in milliseconds; absent if it lives for ever.
    pub expiration_period_ms: Option<u64>,
}

impl sealed::Fields for RibEntry {
    const KIND: u32 = types::DATASET_ITEM;
    const FIELD: &'static str = "RibEntry";

    #[allow(private_interfaces, reason = "sealed")]
    fn read(fields: &Fields<'_>) -> Result<Self, DecodeError> {
        let routes = fields.all(types::ROUTE).map(|element| {
            let route = fields.inside(element, "Route")?;
            Ok(Route {
                face_id: route.required_number(types::FACE_ID, "FaceId")?,
                origin: RouteOrigin::from_number(route.required_number(types::ORIGIN, "Origin")?),
                cost: route.required_number(types::COST, "Cost")?,
                flags: RouteFlags(route.required_number(types::FLAGS, "Flags")?),
                expiration_period_ms: route.number(types::EXPIRATION_PERIOD, "ExpirationPeriod")?,
            })
        });
        Ok(RibEntry { prefix: fields.required_name()?, routes: routes.collect::<Result<_, _>>()? })
    }

    fn write(&self, out: &mut Vec<u8>) {
        fields::write_name(out, &self.prefix);
        for route in &self.routes {
            fields::write_container(out, types::ROUTE, |out| {
                fields::write_number(out, types::FACE_ID, Some(route.face_id));
                fields::write_number(out, types::ORIGIN, Some(route.origin.number()));
                fields::write_number(out, types::COST, Some(route.cost));
                fields::write_number(out, types::FLAGS, Some(route.flags.0));
                fields::write_number(out, types::EXPIRATION_PERIOD, route.expiration_period_ms);
            });
        }
    }
}
