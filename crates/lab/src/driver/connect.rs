//! Faces and routes by NFD's management protocol, for forwarders that are told of them while they run.

use ::management::{Command, ControlParameters};

use super::{DriverError, Manager, Setup};
use crate::experiment::plan::LinkKind;

/// Makes a node's faces and routes.
pub(super) fn connect(
    setup: &Setup<'_>,
    manager: &mut Manager,
    software: &'static str,
) -> Result<(), DriverError> {
    let node = setup.plan.node_name(setup.node);
    let failed = |source| DriverError::management(node, source);
    for interface in setup.interfaces {
        let Some(link) = setup.plan.links.get(interface.link) else { continue };
        let hops: Vec<_> = setup
            .plan
            .routing
            .hops
            .iter()
            .filter(|hop| hop.node == setup.node && hop.link == interface.link)
            .collect();
        if hops.is_empty() {
            continue;
        }
        if link.kind == LinkKind::Ether {
            return Err(DriverError::Unable {
                software,
                what: "use Ethernet links".to_owned(),
                instead: "write kind = \"udp\"".to_owned(),
            });
        }
        for hop in hops {
            let uri = setup.towards(interface, hop).face_uri(link.kind, packet::Dialect::Ndn);
            let wanted = ControlParameters { uri: Some(uri), ..ControlParameters::default() };
            let face = manager.command(Command::FacesCreate, &wanted).map_err(failed)?;
            let name = hop.prefix.parse().map_err(|error| DriverError::prefix(node, &hop.prefix, error))?;
            let route = ControlParameters {
                name: Some(name),
                face_id: face.face_id,
                cost: Some(u64::from(hop.cost)),
                ..ControlParameters::default()
            };
            manager.command(Command::RibRegister, &route).map_err(failed)?;
        }
    }
    Ok(())
}
